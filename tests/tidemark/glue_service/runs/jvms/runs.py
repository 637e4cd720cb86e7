"""Runs scripts with and without a pool, and makes what they saw comparable."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.waiting import wait_until
from tidemark.glue_service.runs.job_run_process import (
    JobProcess,
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
)
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.bookmarks.versions import latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import JobDefinition

PLAIN = Path(__file__).with_name("plain_job.py").read_text(encoding="utf-8")
_names = itertools.count(1)
# What a JVM says once in its life: a warm one has said it before the run.
ONCE = re.compile(
    r"NativeCodeLoader|incubator modules|Picked up (_JAVA|JAVA_TOOL|JDK_JAVA)_OPTIONS"
)
# What Py4J logs if Python collects its garbage while the JVM ends, cold or warm.
AT_THE_END = re.compile(
    r"\s.*|Traceback .*|During handling .*|.*Exception while sending command.*|py4j\.protocol\..*"
    r"|Connection(Refused|Reset)Error.*|BrokenPipeError.*|"
)
# Settings of a warm JVM that a cold one does not have, and what is new in every JVM.
POOL_SETTINGS = ("spark.python.daemon.module",)
EVERY_TIME = re.compile(
    r"_|PYTEST_CURRENT_TEST|jetty\.git\.hash|TIDEMARK_WORKER_FOLDER|spark\.(app\.(id|startTime|submitTime)|driver\.port|repl.*)|.*\.pid|sun\.java\.command"
    r"|(_PYSPARK_DRIVER_CONN_INFO_PATH|TIDEMARK_(POOL_OF_RUN|COLD_BECAUSE)|PYTHON_WORKER_FACTORY_.*)"
)


@dataclass(frozen=True)
class Seen:
    """A run that is over, and all that it left."""

    run: JobRun
    folder: Path
    stdout: str = field(repr=False)
    stderr: str = field(repr=False)

    @property
    def report(self) -> dict[str, Any]:
        """What the plain script printed."""
        assert self.run.state == "SUCCEEDED", f"{self.run.error_message}\n{self.stderr[-3000:]}"
        return json.loads(self.stdout.splitlines()[0])


class Bench:
    """A home with data, where scripts run with the JVMs that the caller gives."""

    def __init__(self, folder: Path) -> None:
        self.home = Home.open(folder / "home")
        Store(self.home.database).close()
        data = self.home.lake / "data" / "in"
        data.mkdir(parents=True)
        for number in range(3):
            rows = [{"kind": f"k{row % 2}", "at": 10 * number + row} for row in range(5)]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (data / f"{number}.json").write_text(text, encoding="utf-8")
        (self.home.lake / "scripts").mkdir()

    def start(self, jvms: Jvms, script: str, name: str = "", **changes: Any) -> JobProcess:
        name = name or f"job-{next(_names):03}"
        scripts = self.home.lake / "scripts"
        (scripts / f"{name}.py").write_text(script, encoding="utf-8")
        library = scripts / name / "from_a_library.py"
        library.parent.mkdir(exist_ok=True)
        library.write_text(f"ME = {name!r}\n", encoding="utf-8")
        arguments = {
            "--job-bookmark-option": "job-bookmark-enable",
            "--extra-py-files": f"s3://scripts/{name}/from_a_library.py",
            "--out": f"s3://data/out/{name}/",
            **changes.pop("arguments", {}),
        }
        job = JobDefinition(name, f"s3://scripts/{name}.py", "5.1", arguments, **changes)
        machine = Machine(self.home, find_java_home(), "http://127.0.0.1:9", "eu-west-2", jvms)
        run = plan_job_run(machine, job, {}, new_run_id(), attempt=0)
        with Store(self.home.database) as store:
            store.put_job_run(run)
        return start_job_run(machine, job, {}, run)

    def run(self, jvms: Jvms, script: str, name: str = "", **changes: Any) -> Seen:
        return self.finish(self.start(jvms, script, name, **changes))

    def finish(self, process: JobProcess) -> Seen:
        return self.seen(wait_until(lambda: poll_job_run(process)))

    def seen(self, run: JobRun) -> Seen:
        with Store(self.home.database) as store:
            store.put_job_run(run)
        folder = Path(run.log_path).parent
        texts = [
            (folder / f"{stream}.log").read_text(encoding="utf-8", errors="replace")
            for stream in ("stdout", "stderr")
        ]
        return Seen(run, folder, *texts)

    def plain(self, jvms: Jvms) -> dict[str, Any]:
        """Run the plain script; return all that it saw and left, the same for every run."""
        seen = self.run(jvms, PLAIN)
        report = seen.report
        with Store(self.home.database) as store:
            bookmark = latest_bookmark(store, seen.run.job_name)
        assert bookmark is not None
        facts = {
            **{name: _kept(value) for name, value in report.items()},
            "stdout": seen.stdout.splitlines()[1:],
            # Sorted: two processes write it.
            "stderr": sorted(filter(_is_told, seen.stderr.splitlines())),
            "rows": [seen.run.rows_read, seen.run.rows_written],
            "bookmark": bookmark.states,
            "out": len(list((self.home.lake / "data/out" / seen.run.job_name).glob("*.parquet"))),
            "record": (seen.folder / "derby.log").exists(),
        }
        return self._comparable(facts, seen) | {"jvm": seen.run.jvm}

    def _comparable(self, facts: dict[str, Any], seen: Seen) -> dict[str, Any]:
        text = json.dumps(facts, sort_keys=True, default=str)
        for found, said in (
            (seen.run.run_id.removeprefix("jr_"), "RUN"),
            (seen.run.job_name, "JOB"),
            (str(self.home.root), "HOME"),
        ):
            text = text.replace(found, said)
        text = re.sub(
            r"(spark|userFiles)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"\1-ID", text
        )
        text = re.sub(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d ", "", text)
        text = re.sub(r"\d{13}", "1111111111111", text)
        return json.loads(text)


def _is_told(line: str) -> bool:
    return not ONCE.search(line) and not AT_THE_END.fullmatch(line)


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _kept(item)
            for name, item in value.items()
            if name not in POOL_SETTINGS and not EVERY_TIME.fullmatch(name)
        }
    return [_kept(item) for item in value] if isinstance(value, list) else value


def differences(cold: dict[str, Any], warm: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what two runs of the plain script do not have in common, without their JVMs."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in sorted({*cold, *warm} - {"jvm"}):
        a, b = cold.get(name), warm.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            found |= {f"{name}.{key}": pair for key, pair in differences(a, b).items()}
        elif a != b:
            found[name] = (a, b)
    return found
