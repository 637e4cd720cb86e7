"""The logs of a job run in CloudWatch Logs: its output, and its error output.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuous-logging.html
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidemark.model.clock import time_of
from tidemark.operate.clients import NOT_FOUND, Glue
from tidemark.operate.job_runs import Run, read_run

OUTPUT, ERROR = "output", "error"
DEFAULT_GROUP = "/aws-glue/jobs"
LATE_MS = 60_000  # how long after a later event CloudWatch may show one
MS_PER_S = 1000


@dataclass(frozen=True, order=True)
class Line:
    """One event of a log, ordered by time.

    Attributes:
        at_ms: epoch milliseconds.
        event_id: of CloudWatch.
        kind: output or error.
        text: without the line end.
    """

    at_ms: int
    event_id: str
    kind: str
    text: str

    @property
    def at(self) -> datetime:
        """When it was written; aware, UTC."""
        return time_of(self.at_ms)


def read_lines(glue: Glue, run: Run, kinds: tuple[str, ...], since_ms: int) -> list[Line]:
    """Return the output of a run from a moment on, by time."""
    return sorted(line for kind in kinds for line in _events(glue, run, kind, since_ms))


def _events(glue: Glue, run: Run, kind: str, since_ms: int) -> Iterator[Line]:
    from botocore.exceptions import ClientError

    # A prefix of a stream is also one of other attempts, whose ids begin with that of the run.
    own = re.compile(
        re.escape(run.run_id) + r"(?!_attempt_)(?![0-9a-f])"
    )  # also executors, -driver
    request: dict[str, Any] = {
        "logGroupName": f"{run.log_group or DEFAULT_GROUP}/{kind}",
        "logStreamNamePrefix": run.run_id,
        "startTime": since_ms,
    }
    while True:
        try:
            answer = glue.logs.filter_log_events(**request)
        except ClientError as error:
            if error.response["Error"]["Code"] in NOT_FOUND:  # nothing was written yet
                return
            raise
        for event in answer["events"]:
            if own.match(event["logStreamName"]):
                yield Line(
                    event["timestamp"], event["eventId"], kind, event["message"].rstrip("\r\n")
                )
        if not answer.get("nextToken"):
            return
        request["nextToken"] = answer["nextToken"]


def follow_lines(glue: Glue, run: Run, kinds: tuple[str, ...]) -> Iterator[Line | Run]:
    """Yield the output of a run until it has ended, then the final run."""
    seen: dict[str, int] = {}
    was_final = False
    since_ms = _start_ms(run)
    while True:
        run = read_run(glue, run)  # before its lines, so that its last output is complete
        for line in read_lines(glue, run, kinds, since_ms):
            if line.event_id not in seen:
                seen[line.event_id] = line.at_ms
                yield line
        if was_final:
            yield run
            return
        was_final = run.is_final  # one more look: CloudWatch shows lines a moment later
        since_ms = max(since_ms, max(seen.values(), default=0) - LATE_MS)
        seen = {name: at_ms for name, at_ms in seen.items() if at_ms >= since_ms}
        time.sleep(glue.poll_s)


def lines_of(glue: Glue, run: Run, kinds: tuple[str, ...]) -> list[Line]:
    """Return all that a run wrote."""
    return read_lines(glue, run, kinds, _start_ms(run))


def _start_ms(run: Run) -> int:
    return int(run.started_at.timestamp() * MS_PER_S) - LATE_MS
