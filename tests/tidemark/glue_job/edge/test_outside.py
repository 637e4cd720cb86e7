"""What a script that is proved may reach outside its home, and what is refused and noted."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.outside import is_within, read_outside, withhold_others

# A process of its own: a hook stays for good.
RUN = """
import sys
from pathlib import Path
from tidemark.glue_job.edge.outside import watch_outside
from tidemark.local_state.home import Home
home, script = Path(sys.argv[1]), sys.argv[2]
outside = watch_outside(Home(home), script)
exec(compile(Path(script).read_text(), script, "exec"))
outside.remove_temporary()
"""


def runs(
    tmp_path: Path, code: str, allowed: tuple[str, ...] = (), name: str = ""
) -> tuple[str, list[str]]:
    """Return the error of a script, empty if it has none, and what it has reached."""
    home = Home.open(tmp_path / f"home{name}")
    withhold_others(home, allowed)
    script, folder = tmp_path / f"job{name}.py", tmp_path / f"run{name}"
    script.write_text(code, encoding="utf-8")
    folder.mkdir(exist_ok=True)
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, "-c", RUN, str(home.root), str(script)]
    result = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={
            "TMPDIR": str(temporary),
            "PATH": "/usr/bin:/bin",
            "AWS_ENDPOINT_URL": "http://localhost:9",
        },
    )
    last = result.stderr.strip().splitlines()[-1] if result.returncode else ""
    return last, read_outside(home)


@pytest.mark.parametrize(
    ("code", "door"),
    [
        ("open('{outside}/rows.txt', 'a').write('x')", "{outside}/rows.txt"),
        ("open('{outside}/rows.txt', 'w')", "{outside}/rows.txt"),
        ("import os; os.remove('{outside}/there')", "{outside}/there"),
        ("import os; open('here', 'w'); os.rename('here', '{outside}/moved')", "{outside}/moved"),
        ("import os; os.mkdir('{outside}/folder')", "{outside}/folder"),
        ("open('../home-evil', 'w')", "{base}/home-evil"),
        ("open('{outside}/x.pyc', 'w')", "{outside}/x.pyc"),
        ("import subprocess; subprocess.run(['/bin/true'])", "/bin/true"),
        ("import os; os.system('/bin/true')", "/bin/true"),
        ("import socket; socket.create_connection(('127.0.0.1', {port}))", "127.0.0.1:{port}"),
        ("import socket; socket.create_connection(('shop.example', 443))", "shop.example:443"),
        ("import urllib.request as r; r.urlopen('http://127.0.0.1:{port}/')", "127.0.0.1:{port}"),
    ],
)
def test_what_is_outside_is_refused_by_name_and_noted(tmp_path, code, door):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there").touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = {"outside": outside, "base": tmp_path, "port": server.getsockname()[1]}
        error, reached = runs(tmp_path, code.format(**names))
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()

    program = "the program " if "/bin" in door else ""
    refused = f"a proof does not let the job reach {program}{door.format(**names)}"
    assert f"job.py line 1: {refused}" in error
    assert f"--allow {door.format(**names)} does" in error
    assert len(reached) == 1
    assert "(job.py line 1)" in reached[0]
    assert sorted(path.name for path in outside.iterdir()) == ["there"]


def test_what_is_allowed_is_done_and_noted(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = (
            f"import socket; socket.create_connection(('127.0.0.1', {port}))\n"
            f"open('{tmp_path}/outside.txt', 'a').write('x')\n"
        )

        error, reached = runs(tmp_path, code, ("127.0.0.1", f"{tmp_path}/outside.txt"))

    assert not error
    assert [what.rpartition(" (")[0] for what in reached] == [
        f"127.0.0.1:{port}",
        f"{tmp_path}/outside.txt",
    ]
    assert (tmp_path / "outside.txt").read_text() == "x"


def test_a_run_may_use_its_own_folders_and_doors(tmp_path):
    code = """
import os, socket, tempfile
open("own.txt", "w").write("x")
with tempfile.TemporaryDirectory() as folder:
    open(f"{folder}/a", "w").write("x")
    os.rename(f"{folder}/a", f"{folder}/b")
open("/dev/null", "w").write("x")
try:
    socket.create_connection(("127.0.0.1", 9))
except ConnectionRefusedError:
    pass  # nobody listens there
"""
    assert runs(tmp_path, code) == ("", [])


def test_an_append_to_a_temporary_file_is_noted_and_done(tmp_path):
    code = "import tempfile; open(tempfile.gettempdir() + '/ledger', 'a').write('x')"

    error, reached = runs(tmp_path, code)

    assert not error
    assert reached == [f"{tmp_path}/temporary/ledger (job.py line 1)"]


def test_a_link_out_of_the_temporary_folder_is_outside(tmp_path):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "temporary" / "link").symlink_to(tmp_path / "outside")

    error, _ = runs(tmp_path, f"open('{tmp_path}/temporary/link/x', 'w')")

    assert f"{tmp_path}/outside/x" in error


def test_a_script_in_a_folder_named_as_the_toolkit_is_watched(tmp_path):
    folder = tmp_path / "tidemark" / "etl"
    folder.mkdir(parents=True)

    error, _ = runs(folder, f"open('{tmp_path}/x', 'w')")

    assert f"{tmp_path}/x" in error


@pytest.mark.parametrize(
    ("what", "allowed", "expected"),
    [
        ("api.example:443", ["api.example"], True),
        ("api.example:443", ["api.example:443"], True),
        ("api.example:443", ["example"], False),
        ("/data/a", ["/data/"], True),
        ("/database", ["/data"], False),
        ("the program /bin/aws", ["/bin/aws"], True),
        ("/data/a", [], False),
    ],
)
def test_hosts_and_paths_are_allowed_by_name(what, allowed, expected):
    assert is_within(what, allowed) is expected


def test_what_was_reached_may_hold_any_character(tmp_path):
    home = Home.open(tmp_path)
    (home.root / "outside.jsonl").write_text(json.dumps("a\nb") + "\n", encoding="utf-8")

    assert read_outside(home) == ["a\nb"]


def test_what_a_run_makes_in_the_temporary_folder_is_gone_for_the_next_one(tmp_path):
    folder = tmp_path / "temporary"
    code = f"""
import os, pathlib
folder = pathlib.Path("{folder}")
assert sorted(os.listdir(folder)) == ["there"]
(folder / "made").mkdir()
(folder / "made" / "done").write_text("1")
(folder / "unfinished").write_text("1")
os.replace(folder / "unfinished", folder / "mark")
(folder / "there").write_text("changed")
assert (folder / "mark").read_text() == (folder / "made" / "done").read_text()
"""
    folder.mkdir()
    (folder / "there").write_text("1", encoding="utf-8")

    for _ in range(2):
        assert runs(tmp_path, code) == ("", [])

    assert [path.name for path in folder.iterdir()] == ["there"]


def test_a_temporary_file_that_is_allowed_stays(tmp_path):
    mark = tmp_path / "temporary" / "mark"

    assert runs(tmp_path, f"open('{mark}', 'w')", (str(mark),)) == ("", [])

    assert mark.exists()


def test_a_temporary_file_of_others_stays_wherever_a_run_moves_it(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    (folder / "theirs").write_text("1", encoding="utf-8")

    assert runs(tmp_path, f"import os; os.rename('{folder}/theirs', '{folder}/moved')") == ("", [])

    assert (folder / "moved").read_text("utf-8") == "1"


def test_a_run_waits_for_another_one_that_uses_the_temporary_folder(tmp_path):
    folder = tmp_path / "temporary"
    code = f"""
import os, time
file = "{folder}/rows.csv"
with open(file, "a") as rows:
    rows.write("row")
time.sleep(0.2)
assert open(file).read() == "row"
os.remove(file)
"""
    with ThreadPoolExecutor(4) as threads:
        ended = [threads.submit(runs, tmp_path, code, (), name) for name in "1234"]

    assert {run.result()[0] for run in ended} == {""}
