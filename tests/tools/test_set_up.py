"""`make setup` shows that it goes on, to its end, and says what to do when npm has no way out."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tools import set_up

PACKAGES = 5
# What pip prints, and when: nothing at all while it installs.
FAKE_PIP = """
import sys, time
from pathlib import Path
folder = Path(sys.argv[1])
for number in range({packages}):
    print(f"Collecting package-{{number}}", flush=True)
print("Installing collected packages: all of them", flush=True)
for number in range({packages}):
    info = folder / f"package_{{number}}-1.0.dist-info"
    info.mkdir()
    (info / "INSTALLER").write_text("pip")
    time.sleep(0.3)
print("Successfully installed all of them")
"""


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in the place of pip, that is silent while it installs, as pip is."""
    site = tmp_path / "site-packages"
    site.mkdir()
    script = tmp_path / "pip.py"
    script.write_text(FAKE_PIP.format(packages=PACKAGES))
    (tmp_path / "requirements.txt").write_text("".join(f"p{n}==1.0\n" for n in range(PACKAGES)))
    monkeypatch.setattr(set_up, "PIP", (sys.executable, str(script), str(site)))
    monkeypatch.setattr(set_up, "REQUIREMENTS", str(tmp_path / "requirements.txt"))
    monkeypatch.setattr(set_up, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(set_up.sysconfig, "get_path", lambda _: str(site))
    return site


def test_the_bar_moves_while_pip_installs_and_is_full_at_the_end(pip, monkeypatch):
    seen: list[float] = []
    plain_phase = set_up.phase

    class Watched:
        def __init__(self, *given):
            self.inner, self.total = plain_phase(*given), given[2]

        def __enter__(self):
            self.inner.__enter__()
            return seen.append

        def __exit__(self, *error):
            return self.inner.__exit__(*error)

    monkeypatch.setattr(set_up, "phase", Watched)

    set_up.install_python_packages(Console(file=StringIO()))

    assert seen == sorted(seen)
    assert seen[-1] == PACKAGES * (1 + set_up.INSTALLING)
    while_installing = {done for done in seen if done >= PACKAGES}
    assert len(while_installing) >= 3  # it does not stand still when all is fetched


def test_on_a_terminal_a_phase_shows_a_bar_and_its_time():
    output = StringIO()
    console = Console(file=output, force_terminal=True, width=80)

    with set_up.phase(console, "Doing it", 10) as advance:
        advance(5)
        time.sleep(0.3)

    assert re.search(r"Doing it.*━.*0:00:0\d", output.getvalue(), re.DOTALL)
    assert re.search(r"✓.*Doing it \(\d+ s\)", output.getvalue())


def test_elsewhere_a_phase_is_two_plain_lines():
    output = StringIO()

    with set_up.phase(Console(file=output, width=80), "Doing it"):
        pass

    assert re.fullmatch(r"Doing it …\n✓ Doing it \(\d+ s\)\n", output.getvalue())


@pytest.mark.stress
def test_a_registry_that_npm_does_not_reach_is_an_error_with_what_to_do(tmp_path, monkeypatch):
    needs = {"private": True, "devDependencies": {"no-such-package-here": "1.0.0"}}
    (tmp_path / "package.json").write_text(json.dumps(needs))
    monkeypatch.chdir(tmp_path)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")  # where nobody listens
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")

    with pytest.raises(set_up.SetUpError) as failed:
        set_up.install_node_packages()

    text = str(failed.value)
    assert "ECONNREFUSED" in text.rpartition("npm does not reach its registry")[2]
    assert "NODE_EXTRA_CA_CERTS" in text
    assert "HTTPS_PROXY" in text


@pytest.mark.parametrize(
    ("printed", "is_of_the_network"),
    [
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", True),
        ("npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY", True),
        ("npm error code ETIMEDOUT", True),
        ("npm error code EAI_AGAIN", True),
        ("npm error code ENOSPC", False),
        ("npm error code EINTEGRITY", False),
    ],
)
def test_the_remedy_is_for_connections_only(printed, is_of_the_network, monkeypatch):
    monkeypatch.setattr(set_up, "NPM", (sys.executable, "-c", f"import sys; sys.exit({printed!r})"))

    with pytest.raises(set_up.SetUpError, match=re.escape(printed)) as failed:
        set_up.install_node_packages()

    assert ("NODE_EXTRA_CA_CERTS" in str(failed.value)) is is_of_the_network


def test_the_archive_of_classes_is_made_while_npm_installs(monkeypatch):
    """Each waits for the other here: one after the other, they would wait for ever."""
    both = threading.Barrier(2, timeout=60)
    commands = []

    def check(command):
        commands.append(command)
        if command == set_up.CLASS_ARCHIVE:
            both.wait()

    monkeypatch.setattr(set_up, "_check", check)
    monkeypatch.setattr(set_up, "install_python_packages", lambda _: None)
    monkeypatch.setattr(set_up, "node_commands", lambda _: None)
    monkeypatch.setattr(set_up, "install_node_packages", both.wait)

    assert set_up.main() == 0

    assert commands[-1] == set_up.CLASS_ARCHIVE


def test_a_java_that_cannot_make_the_archive_stops_no_set_up(monkeypatch, capsys):
    def check(command):
        if command == set_up.CLASS_ARCHIVE:
            raise set_up.SetUpError("no such Java")

    monkeypatch.setattr(set_up, "_check", check)
    for name in ("install_python_packages", "node_commands"):
        monkeypatch.setattr(set_up, name, lambda _: None)
    monkeypatch.setattr(set_up, "install_node_packages", lambda: None)

    assert set_up.main() == 0

    assert "no such Java" in capsys.readouterr().out
