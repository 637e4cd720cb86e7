"""A job that writes windows into tables of Iceberg, its process group killed at random moments."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import BOUND_S
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.assembly.iceberg import iceberg_settings

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,  # a dozen runs of Spark for each seed
    pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5"),
]
SCRIPT = Path(__file__).parents[1] / "data" / "scripts" / "iceberg_random.py"
LIBS = Path(__file__).parents[2] / "libs"
DAYS = (1, 2, 3, 4)
Change = dict[str, Any]


def history(random_: random.Random) -> list[Change]:
    """Return a full load of ten rows, and thirty changes of some keys, as DMS delivers them."""
    alive = set(range(10))
    changes = [{"op": "I", "id": key, "name": f"n{key}", "at": 0} for key in alive]
    for at in range(1, 31):
        key = random_.randrange(14)
        op = random_.choice("UD") if key in alive else "I"
        alive = alive - {key} if op == "D" else alive | {key}
        changes.append({"op": op, "id": key, "name": f"n{key}.{at}", "at": at})
    return changes


def landings(random_: random.Random) -> list[list[Change]]:
    """Return the changes of each day, in any order; `seq` counts them as they land."""
    changes = history(random_)
    random_.shuffle(changes)
    numbered = [{**change, "seq": number} for number, change in enumerate(changes, 1)]
    return [numbered[10 * (day - 1) : 10 * day] for day in DAYS]


def in_order(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=json.dumps)


def last_state(changes: list[Change]) -> list[list[Any]]:
    ordered = sorted(changes, key=lambda one: int(one["at"]))
    last = {one["id"]: one for one in ordered}.values()
    return in_order([[one["id"], one["name"], one["at"]] for one in last if one["op"] != "D"])


def versions(changes: list[Change]) -> list[list[Any]]:
    found = []
    ordered = sorted(changes, key=lambda one: (one["id"], one["at"]))
    nothing = {"id": None, "op": "D"}
    around = zip([nothing, *ordered[:-1]], ordered, [*ordered[1:], nothing], strict=True)
    for before, one, after in around:
        till = after["at"] if after["id"] == one["id"] else None
        if one["op"] != "D":
            found.append([one["id"], one["name"], one["at"], till])
        elif before["id"] != one["id"] or before["op"] == "D":  # its row has not landed yet
            found.append([one["id"], one["name"], one["at"], one["at"]])
    return in_order(found)


class Runs:
    """Runs the job in a home, each run in a process group of its own."""

    def __init__(self, home: Home, library: str, random_: random.Random) -> None:
        self._home = home
        self._library = library
        self._random = random_

    def _start(self, day: int) -> subprocess.Popen[str]:
        settings = iceberg_settings("glue_catalog", "s3://lake/warehouse/")
        conf = " --conf ".join(f"{key}={value}" for key, value in settings.items())
        words = ["--datalake-formats", "iceberg", "--conf", conf, "--extra-py-files", self._library]
        words += ["--JOB_NAME", "dms", "--day", str(day), "--watermark_table", "marks"]
        return subprocess.Popen(
            [sys.executable, "-m", "tidemark", "submit", str(SCRIPT), *words],
            env={**os.environ, "TIDEMARK_HOME": str(self._home.root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def killed(self, day: int) -> bool:
        """Start a run and kill it at a random moment after its begin; return whether it lived."""
        process = self._start(day)
        assert process.stdout
        for line in process.stdout:
            if line.startswith("begun"):
                break
        time.sleep(self._random.uniform(0, 12))
        is_dead = process.poll() is None
        if is_dead:
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
        return is_dead

    def whole(self, day: int) -> dict[str, Any]:
        """Run the job to its end; return the facts that it printed."""
        process = self._start(day)
        output, _ = process.communicate(timeout=BOUND_S)
        lines = [line for line in output.splitlines() if line.startswith("facts ")]
        assert process.returncode == 0, output
        assert lines, output
        return dict(json.loads(lines[-1].removeprefix("facts ")))


@pytest.mark.parametrize("seed", [1, "another"])
def test_the_tables_equal_a_recomputation_whenever_the_job_is_killed(seed, tmp_path):
    seed = random.SystemRandom().randrange(10**6) if seed == "another" else seed
    random_ = random.Random(seed)  # noqa: S311 (of a test)
    home = Home.open(tmp_path / "home")
    home.create_bucket("lake")
    source = home.lake / "lake" / "dms"
    source.mkdir()
    library = shutil.make_archive(str(tmp_path / "libs"), "zip", LIBS, "watermarks")
    runs, landed, kills = Runs(home, library, random_), list[Change](), 0
    for day, changes in zip(DAYS, landings(random_), strict=True):
        text = "".join(f"{json.dumps(change)}\n" for change in changes)
        (source / f"{day}.json").write_text(text, encoding="utf-8")
        landed += changes
        kills += sum(runs.killed(day) for _ in range(random_.randrange(3)))

        found = runs.whole(day)

        log = [[one["id"], one["name"], one["op"], one["at"], one["seq"]] for one in landed]
        told = f"seed {seed}, day {day}, {kills} kills"
        assert found["log"] == in_order(log), told
        assert found["last"] == last_state(landed), told
        assert found["versions"] == versions(landed), told
        assert found["branches"] == [], told
