"""A pipeline whose watermarks another DynamoDB keeps, through kill -9 of a job and of that one.

It is ministack at night, whose virtual environment `make .venv-ministack/.complete` makes.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.engines import MINISTACK, dynoxide, ministack, url_of
from tests.servers import free_port
from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.watermark_tables import watermark_table

PROJECT = Path(__file__).parents[3]
VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
TABLE = "glue-watermarks"
# Copies the numbers behind the watermark, a file for each run; dies where the file `die` says.
SCRIPT = f"""
import os, signal, sys
from pathlib import Path
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks

lake = Path(os.environ["TIDEMARK_HOME"], "lake", "landing")
job = getResolvedOptions(sys.argv, ["JOB_NAME"])

def die(place):
    if (lake / "die").exists() and (lake / "die").read_text() == place:
        (lake / "die").unlink()
        os.kill(os.getpid(), signal.SIGKILL)

watermarks = Watermarks({TABLE!r})
latest = watermarks.latest(job["JOB_NAME"])
low = latest.watermarks["id"] if latest else 0
numbers = [int(line) for line in (lake / "numbers").read_text().split()]
new = [number for number in numbers if number > low]
(lake / f"copied-behind-{{low}}").write_text(" ".join(map(str, new)))
die("before the commit")
watermarks.advance(
    job_id=job["JOB_NAME"], run_id=job["JOB_RUN_ID"], to={{"id": max(numbers)}}, base=latest
)
die("after the commit")
"""


def embedded(port: int, folder: Path):
    return dynoxide(port, folder / "tables.db")


needs_ministack = [
    pytest.mark.nightly,
    pytest.mark.skipif(not MINISTACK.exists(), reason="make .venv-ministack/.complete"),
]


@pytest.fixture(
    params=[
        pytest.param(embedded, id="embedded by url"),
        pytest.param(ministack, id="ministack", marks=needs_ministack),
    ]
)
def start(request, tmp_path):
    """Return a function that starts the engine, at the same place each time, and its URL."""
    port = free_port()
    folder = tmp_path / "engine"
    folder.mkdir()
    return lambda: request.param(port, folder), url_of(port)


@pytest.fixture
def app(write_assembly, home) -> Path:
    """Return the app of one job, and put the library that it imports into the lake."""
    table = watermark_table(TABLE).create_request
    folder = write_assembly(
        {"count": SCRIPT}, others={"Table": {"Type": "AWS::DynamoDB::Table", "Properties": table}}
    )
    template = json.loads((folder / "template.json").read_text("utf-8"))
    arguments = {"--extra-py-files": "s3://landing/libs.zip", "--watermark_table": TABLE}
    template["Resources"]["count"]["Properties"]["DefaultArguments"] = arguments
    (folder / "template.json").write_text(json.dumps(template), "utf-8")
    archive = Path(home, "lake", "landing", "libs")
    archive.parent.mkdir(parents=True)
    shutil.make_archive(str(archive), "zip", PROJECT / "libs", "watermarks")
    return folder


def land(home: Path, *numbers: int) -> None:
    with (home / "lake" / "landing" / "numbers").open("a", encoding="utf-8") as file:
        file.write("".join(f"{number}\n" for number in numbers))


def copied(home: Path) -> list[int]:
    files = (home / "lake" / "landing").glob("copied-behind-*")
    return sorted(int(number) for file in files for number in file.read_text().split())


def run(app: Path, expected: int = 0) -> str:
    result = tidemark("run", "--app", str(app))
    assert result.exit_code == expected, result.output
    return result.output


def shown(job: str = "count") -> str:
    return tidemark("watermark", "show", job).output


@pytest.mark.nightly
def test_a_watermark_is_right_after_kill_9_of_its_job(home, app, start, monkeypatch):
    start_engine, url = start
    monkeypatch.setenv(VARIABLE, url)
    home = Path(home)
    with start_engine():
        land(home, 1, 2)
        run(app)
        land(home, 3)
        (home / "lake" / "landing" / "die").write_text("before the commit", encoding="utf-8")
        run(app, expected=1)
        assert "id=2" in shown()

        land(home, 4)
        (home / "lake" / "landing" / "die").write_text("after the commit", encoding="utf-8")
        run(app, expected=1)
        assert "id=4" in shown()

        land(home, 5)
        run(app)

        assert copied(home) == [1, 2, 3, 4, 5]
        assert "id=5" in shown()
        assert "id=5" in tidemark("status", "--app", str(app)).output


@pytest.mark.nightly
def test_a_watermark_is_rewound_there_and_the_state_says_where_it_is(
    home, app, start, monkeypatch, tmp_path
):
    start_engine, url = start
    monkeypatch.setenv(VARIABLE, url)
    with start_engine():
        for number in (1, 2):
            land(Path(home), number)
            run(app)

        first = tidemark("runs", "count", "--format", "json").stdout
        run_id = min(json.loads(first), key=lambda one: one["started_at"])["run_id"]
        rewound = tidemark("watermark", "rewind", "count", "--to", run_id, "--reason", "x", "--yes")
        assert rewound.exit_code == 0, rewound.output
        assert "id=1" in shown()
        backup = tidemark("home", "backup", str(tmp_path / "state.tgz"))
        assert f"watermarks are kept by the DynamoDB at {url} and are not in it" in backup.output
        assert f"at {url} stay" in tidemark("home", "reset", "--yes").output


@pytest.mark.nightly
def test_what_a_killed_dynamodb_has_lost_is_told_and_nothing_is_read_again(
    home, app, start, monkeypatch
):
    start_engine, url = start
    monkeypatch.setenv(VARIABLE, url)
    land(Path(home), 1, 2)
    with start_engine() as engine:
        run(app)
        engine.kill()
        engine.wait()

    with start_engine():
        result = tidemark("run", "--app", str(app))
        if result.exit_code == 0:  # it kept them
            assert "id=2" in shown()
        else:
            assert "lacks watermarks of" in result.output
            assert "lost them when it ended" in result.output

    assert copied(Path(home)) == [1, 2]
