"""A port on a disk of its own that fills up and empties at random, with workflows and kills.

Run as `unshare --mount python -m tests.tidemark.glue_service.full_disk DISK SEED FLOWS KILLS`.
Prints what came of it, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.local_state.home import Home

UP = [sys.executable, "-m", "tidemark", "serve", "--port", "0", "--jvms", "0"]
ENDED = ("COMPLETED", "STOPPED", "ERROR")
SIZE = 12 * 1024**2
ROLE = "arn:aws:iam::000000000000:role/anyone"
MAX_LEFT = 60_000  # bytes: a state change needs some pages
SCRIPT = """
import sys
flow = sys.argv[sys.argv.index('--WORKFLOW_RUN_ID') + 1]
with open({log!r}, 'a') as log:
    log.write('{name} ' + flow + chr(10))
"""


class Server:
    """`serve` on a home; may be killed and started again."""

    def __init__(self, home: Home, log: Path) -> None:
        self.home, self._log = home, log
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            UP, stdout=subprocess.PIPE, stderr=self._log.open("a"), text=True
        )
        assert self.process.stdout is not None
        line = next(line for line in self.process.stdout if "AWS_ENDPOINT_URL=" in line)
        self.port = Port(self.home, line.strip().partition("=")[2], None)  # type: ignore[arg-type]
        threading.Thread(target=self._keep, args=[self.process.stdout], daemon=True).start()

    def _keep(self, lines: Any) -> None:
        for line in lines:
            with self._log.open("a") as log:
                log.write(line)


class Disk:
    """Fills a disk but for some bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._filler = folder, folder / "filler"

    def fill(self, left: int) -> None:
        self.empty()
        space = os.statvfs(self.folder)
        with suppress(OSError):
            self._filler.write_bytes(bytes(max(0, space.f_bavail * space.f_frsize - left)))

    def empty(self) -> None:
        self._filler.unlink(missing_ok=True)


def define(port: Port, log: Path) -> None:
    """Define a workflow in which b follows a, and one that the end of b starts by an event."""
    for name in "abc":
        port.job(name, SCRIPT.format(log=str(log), name=name))
    for job in "abc":
        port.glue.update_job(
            JobName=job,
            JobUpdate={**_update(port, job), "ExecutionProperty": {"MaxConcurrentRuns": 99}},
        )
    port.glue.create_workflow(Name="w")
    port.glue.create_trigger(
        Name="first", WorkflowName="w", Type="ON_DEMAND", Actions=[{"JobName": "a"}]
    )
    condition = {"LogicalOperator": "EQUALS", "JobName": "a", "State": "SUCCEEDED"}
    port.glue.create_trigger(
        Name="then",
        WorkflowName="w",
        Type="CONDITIONAL",
        StartOnCreation=True,
        Predicate={"Conditions": [condition]},
        Actions=[{"JobName": "b"}],
    )
    port.glue.create_workflow(Name="after")
    port.glue.create_trigger(
        Name="event", WorkflowName="after", Type="EVENT", Actions=[{"JobName": "c"}]
    )
    events, pattern = port.client("events"), {"jobName": ["b"], "state": ["SUCCEEDED"]}
    events.put_rule(Name="b", EventPattern=json.dumps({"source": ["aws.glue"], "detail": pattern}))
    events.put_targets(
        Rule="b", Targets=[{"Id": "after", "Arn": port.arn("workflow/after"), "RoleArn": ROLE}]
    )


def _update(port: Port, job: str) -> dict[str, Any]:
    found = port.glue.get_job(JobName=job)["Job"]
    return {"Role": found["Role"], "Command": found["Command"]}


def main(folder: Path, seed: int, flows: int, kills: int) -> None:
    """Start workflows while the disk fills and empties, then make room and look at all of them."""
    choose = random.Random(seed)  # noqa: S311 (no secret)
    mounted = folder / "disk"
    mounted.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(mounted)]
    subprocess.run(["mount", *options], check=True)
    os.environ["TIDEMARK_HOME"] = str(mounted / "home")
    disk, log, output = Disk(mounted), folder / "ran", folder / "output"
    log.touch()
    server = Server(Home.open(mounted / "home"), output)
    define(server.port, log)
    accepted: list[str] = []
    to_kill = set(choose.sample(range(flows), kills))
    for number in range(flows):
        if choose.random() < 0.3:
            disk.fill(choose.randrange(MAX_LEFT))
        with suppress(ClientError, BotoCoreError):
            accepted.append(server.port.glue.start_workflow_run(Name="w")["RunId"])
        pause(choose.uniform(0, 2))
        disk.fill(choose.randrange(MAX_LEFT))
        pause(choose.uniform(0, 1))
        if number in to_kill:
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            disk.empty()
            server.start()
        elif choose.random() < 0.8:
            disk.empty()
    disk.empty()
    wait_until(lambda: not unfinished(server.port))
    states = {flow: ended(server.port, flow) for flow in accepted}
    runs = {
        name: Counter(
            run["JobRunState"]
            for run in server.port.glue.get_job_runs(JobName=name, MaxResults=200)["JobRuns"]
        )
        for name in "abc"
    }
    is_alive = server.process.poll() is None
    server.process.send_signal(signal.SIGINT)
    server.process.wait()
    sys.stdout.write(
        json.dumps(
            {
                "flows": [states[flow] for flow in accepted],
                "ran": log.read_text().split("\n")[:-1],
                "accepted": accepted,
                "runs": runs,
                "alive": is_alive,
                "output": output.read_text(),
            }
        )
    )


def unfinished(port: Port) -> bool:
    """Return whether a run is on its way, also one that follows from another now."""
    pause(1.5)  # the engine tries again each second
    runs = [
        run["JobRunState"]
        for name in "abc"
        for run in port.glue.get_job_runs(JobName=name, MaxResults=200)["JobRuns"]
    ]
    return bool({"STARTING", "RUNNING", "STOPPING", "WAITING"} & set(runs))


def pause(seconds: float) -> None:
    """Let the server work for a moment: how far it comes is what differs."""
    threading.Event().wait(seconds)


def ended(port: Port, flow: str) -> str:
    """Return the state of a workflow run as soon as it has ended."""

    def state() -> str:
        found: str = port.glue.get_workflow_run(Name="w", RunId=flow)["Run"]["Status"]
        return found if found in ENDED else ""

    return wait_until(state)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
