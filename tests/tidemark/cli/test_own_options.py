"""Options of a command that stand after its script: refused, or named if it has them too."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from tidemark.cli import engines
from tidemark.cli.main import main

JOB = "import sys\nfrom awsglue.utils import getResolvedOptions\n"
OWN = f"{JOB}getResolvedOptions(sys.argv, ['format'])\nraise SystemExit\n"


@pytest.mark.parametrize(
    ("command", "words", "misplaced"),
    [
        ("submit", ("--day", "1", "--format", "json"), "--format"),
        ("submit", ("--help",), "--help"),
        ("submit", ("--executors=2",), "--executors"),
        ("prove", ("--kind", "crash"), "--kind"),
        ("compare-versions", ("--find-settings",), "--find-settings"),
    ],
)
def test_an_option_after_a_script_that_does_not_name_it_is_refused(
    home, tmp_path, command, words, misplaced
):
    script = tmp_path / "load.py"
    script.write_text(f"{JOB}# reads no {misplaced}\n", encoding="utf-8")

    result = CliRunner().invoke(main, [command, str(script), *words])

    assert result.exit_code == 2
    output = " ".join(result.output.split())
    assert re.search(rf"{misplaced} stands after .*tidemark {command} {misplaced} …", output)
    assert not list(home.glob("runs/*"))


@pytest.mark.parametrize(
    "words",
    [
        ("load", "--format", "json"),
        ("load.py", "--format", "json"),
        ("missing.py",),
        ("--app", "cdk.out", "load.py"),
        ("writes.py",),
        ("--app", "nowhere", "load"),
    ],
)
def test_arguments_are_refused_before_a_spark_is_installed(home, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engines, "installed_spark", lambda version: pytest.fail(version))
    (tmp_path / "load.py").write_text(JOB, encoding="utf-8")
    (tmp_path / "writes.py").write_text('frame.write.jdbc("jdbc:a", "t")\n', encoding="utf-8")

    result = CliRunner().invoke(main, ["compare-versions", *words])

    assert result.exit_code == 2, result.output


def test_an_option_that_the_script_names_goes_to_it_with_a_note(home, tmp_path):
    script = tmp_path / "load.py"
    script.write_text(OWN, encoding="utf-8")

    result = CliRunner().invoke(main, ["submit", str(script), "--format", "json"])

    assert result.exit_code == 0, result.output
    assert "note: --format stands after the script and goes to it" in result.stderr


@pytest.mark.parametrize("command", ["prove", "compare-versions"])
def test_an_option_that_no_command_has_is_named(home, command):
    result = CliRunner().invoke(main, [command, "--nothing", "json", "load.py"])

    assert result.exit_code == 2
    assert "no such option: --nothing" in result.output.lower()
