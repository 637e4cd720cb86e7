"""The record of a rewind of a deployed stage: one row of a watermark table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.local_state.rewinds.records import RewindRecord
from tidemark.local_state.rewinds.steps import Steps, WatermarkStep

RECORDS = "~rewind"  # the job name of the records; no job of Glue is meant
BEGUN, DONE, UNDOING, UNDONE = "begun", "done", "undoing", "undone"
NOTHING = "nothing to do"  # so that an undo after it undoes none before it


@dataclass(frozen=True)
class StageRecord:
    """The record of a rewind of a stage; `runs` are those of bookmarks: job, from, to.

    ``holder`` is the command that works on it, and ``held_ms`` when it last said so: see
    `stage_claims`.
    """

    number: int
    state: str
    at_ms: int
    actor: str
    why: str
    to: str
    runs: tuple[tuple[str, str, str], ...]
    watermarks: tuple[WatermarkStep, ...]
    holder: str = ""
    held_ms: int = 0

    def to_item(self) -> dict[str, Any]:
        """Return the row of the table."""
        steps = Steps(watermarks=self.watermarks).to_json()["watermarks"]
        document = {"to": self.to, "runs": self.runs, "watermarks": steps}
        return {
            **key_of(self.number),
            "wmKind": {"S": "operator"},
            "wmActor": {"S": self.actor},
            "wmReason": {"S": self.why},
            "wmState": {"S": self.state},
            "wmAtMs": {"N": str(self.at_ms)},
            "wmDocument": {"S": json.dumps(document)},
            **({"wmHolder": {"S": self.holder}} if self.holder else {}),
            **({"wmHeldMs": {"N": str(self.held_ms)}} if self.held_ms else {}),
        }

    @property
    def jobs(self) -> list[str]:
        """The jobs whose state it moves."""
        names = [*(job for job, _, _ in self.runs), *(step.job for step in self.watermarks)]
        return list(dict.fromkeys(names))

    def to_record(self) -> RewindRecord:
        """Return it in the common form of all targets."""
        bookmarks = [{"job": job, "from_run": run, "to_run": to} for job, run, to in self.runs]
        steps = {**Steps(watermarks=self.watermarks).to_json(), "bookmarks": bookmarks}
        about = (self.number, self.state, self.at_ms, self.actor, self.why)
        return RewindRecord(*about, undoes=None, document={"to": self.to, "steps": steps})

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "StageRecord":
        """Return what `to_item` wrote."""
        document = json.loads(item["wmDocument"]["S"])
        return cls(
            int(item["runId"]["S"]),
            item["wmState"]["S"],
            int(item["wmAtMs"]["N"]),
            item["wmActor"]["S"],
            item["wmReason"]["S"],
            document["to"],
            tuple((job, from_, to) for job, from_, to in document["runs"]),
            tuple(WatermarkStep(**step) for step in document["watermarks"]),
            item.get("wmHolder", {}).get("S", ""),
            int(item.get("wmHeldMs", {}).get("N", 0)),
        )


def key_of(number: int) -> dict[str, Any]:
    """Return the key of the row of a record."""
    return {"jobName": {"S": RECORDS}, "runId": {"S": f"{number:06d}"}}


def reason_of(record: StageRecord, what: str) -> str:
    """Return the reason that the history of a watermark has of it; each rewind has its own."""
    return f"{record.why} ({what} {record.number})"
