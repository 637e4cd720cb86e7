"""The table and its rows: every name is here, once.

A job has one head row (its current watermarks and their version) and one row per run. A source of
a job, if it has several, has its own head and rows: it moves, costs and rewinds by itself.

    job                    source `orders` of a job
    ~HEAD                  ~CURSOR#orders                   the head
    jr_1                   ~BY#orders#jr_1                  commit of a run
    ~AUDIT#000000000007    ~BY#orders#~AUDIT#000000000007   change by an operator
    ~COMMITTED##0000…      ~COMMITTED#orders#0000…          committed windows, in blocks
    ~BACKFILL#<id>                                          which parts of a backfill are done
    ~CHECKPOINT#jr_1                                        record of a run without watermarks
    ~BEFORE                                                 findings of the last run at its start

"~" sorts after every run id, and "~HEAD" after all others, so a reader of the v1 class, which takes
the greatest `runId`, finds it. Our attributes start with `wm`, except `expiresAt`; any other name
is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from watermarks.errors import WatermarksError

from .latest import DEFAULT_KEY, Item, Latest
from .schemas import RefusedSchema, TargetSchema
from .values import decode

TABLE_NAME = "glue-watermarks"
EXPIRES_AT = "expiresAt"  # epoch seconds, of rows that may be forgotten
HEAD = "~HEAD"
_KEYS = {"jobName": "HASH", "runId": "RANGE"}


def create_table_request(table_name: str = TABLE_NAME) -> dict[str, Any]:
    """Return the request of DynamoDB's CreateTable for a table of watermarks.

    Its time to live, on `expiresAt`, is set by a separate request, UpdateTimeToLive.

    Example:
        >>> request = create_table_request("glue-watermarks")
        >>> request["TableName"], [key["AttributeName"] for key in request["KeySchema"]]
        ('glue-watermarks', ['jobName', 'runId'])
    """
    return {
        "TableName": table_name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in _KEYS.items()],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in _KEYS],
    }


class Table(NamedTuple):
    """Where the rows are."""

    name: str
    region: str


@dataclass(frozen=True)
class Owner:
    """Whose watermarks a head holds: those of a job, or of one source of a job."""

    job_id: str
    source: str = ""

    def __str__(self) -> str:
        return f"job {self.job_id!r}" + (f", source {self.source!r}" if self.source else "")

    @property
    def head(self) -> str:
        """Sort key of the head row."""
        return f"~CURSOR#{self.source}" if self.source else HEAD

    def run(self, run_id: str) -> str:
        """Return the sort key of the row of a run."""
        return f"~BY#{self.source}#{run_id}" if self.source else run_id

    def audit(self, version: int) -> str:
        """Return the sort key of the row of an operator's change, which made a version."""
        return self.run(f"~AUDIT#{version:012d}")

    @property
    def every_run(self) -> tuple[str, str]:
        """Sort keys before and after the rows of all runs."""
        return (self.run(""), self.run("~")) if self.source else ("\x01", "~")

    @property
    def last_audit(self) -> str:
        """A sort key after that of every audit row."""
        return self.run("~AUDIT#~")

    def checkpoint(self, run_id: str) -> str:
        """Return the sort key of the row of a run of a job that keeps no watermarks."""
        return f"~CHECKPOINT#{run_id}"

    def block(self, version: int | None) -> str:
        """Return the sort key of a block of committed windows; None: one after every block."""
        return f"~COMMITTED#{self.source}#{'~' if version is None else f'{version:012d}'}"

    def key(self, name: str) -> Item:
        """Return the primary key of a row of the job."""
        return {"jobName": {"S": self.job_id}, "runId": {"S": name}}


SOURCE_HEADS = ("~CURSOR#", "~CURSOR$")
"""The sort keys before and after the heads of all sources of a job."""


class Pointer(NamedTuple):
    """A row that another one names: the row before it, or the one that a rewind went back to.

    Attributes:
        name: its sort key; empty if it is missing.
        version: the version it had then, 0 for a row of the v1 class.
    """

    name: str
    version: int


NOWHERE = Pointer("", 0)


class Row:
    """A row of the table in DynamoDB's form, read attribute by attribute."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        self.item: Item = dict(item)

    def __repr__(self) -> str:
        return f"Row({self.item!r})"

    def string(self, name: str) -> str:
        """Return a string attribute, empty if it is missing."""
        return str(self.item.get(name, {}).get("S", ""))

    def number(self, name: str) -> int:
        """Return a number attribute, 0 if it is missing."""
        return int(self.item.get(name, {"N": "0"})["N"])

    def map(self, name: str) -> Item:
        """Return a map attribute, empty if it is missing."""
        attributes: Item = self.item.get(name, {"M": {}})["M"]
        return attributes

    @property
    def name(self) -> str:
        """Its sort key."""
        return self.string("runId")

    @property
    def owner(self) -> Owner:
        """The job or the source that it belongs to."""
        kind, _, rest = self.name.partition("#")
        source = rest.partition("#")[0] if kind in {"~CURSOR", "~BY", "~COMMITTED"} else ""
        return Owner(self.string("jobName"), source)

    @property
    def run_id(self) -> str:
        """The run whose watermarks it holds."""
        name = self.name.split("#", 2)[2] if self.name.startswith("~BY#") else self.name
        return self.string("wmRunId") or name

    @property
    def prev(self) -> Pointer:
        """The row before it."""
        return Pointer(self.string("wmPrev"), self.number("wmPrevVersion"))

    @property
    def target(self) -> Pointer:
        """The row that a rewind or an adoption went back to."""
        return Pointer(self.string("wmToLog"), self.number("wmToVersion"))

    @property
    def last(self) -> Pointer:
        """The row that made the head's state."""
        return Pointer(self.string("wmLog"), self.version)

    @property
    def is_head(self) -> bool:
        """Whether this is the head of its owner."""
        return self.name == self.owner.head

    @property
    def version(self) -> int:
        """The version that it made, 0 for a row of the v1 class."""
        return self.number("wmVersion")

    @property
    def is_ours(self) -> bool:
        """Whether this library has written it, and not the v1 class."""
        return "wmVersion" in self.item

    @property
    def payload_names(self) -> list[str]:
        """The attributes that are a caller's: the map of the watermarks."""
        return [name for name in self.item if is_payload(name)]

    @property
    def has_watermarks(self) -> bool:
        """Whether it holds watermarks: a head may have an open window only."""
        return bool(self.payload_names)

    def is_expired(self, now: datetime) -> bool:
        """Return whether it is past its time, which DynamoDB may take days to act on."""
        return EXPIRES_AT in self.item and self.number(EXPIRES_AT) <= now.timestamp()

    def latest(self) -> Latest:
        """Return the watermarks of its owner by a head row or a run row.

        A head with only open windows is version 0, or the version of a rewind to nothing.
        """
        is_empty = not self.has_watermarks
        run_id = "" if is_empty else self.run_id
        key = DEFAULT_KEY if is_empty else self._payload_key()
        return Latest(
            run_id=run_id,
            version=self.version,
            watermarks={} if is_empty else decode(self.item[key], self.item.get("wmTypes")),
            source=self.owner.source,
            key=key,
            log=self.string("wmLog") if "wmLog" in self.item else run_id and self.owner.run(run_id),
            prev=self.prev.name,
            prev_version=self.prev.version,
            committed=self.map("wmCommitted"),
            bounds={cursor: bounds["S"] for cursor, bounds in self.map("wmBounds").items()},
            is_typed="wmTypes" in self.item,
            schemas=self.schemas,
            refused=self.refused,
        )

    @property
    def schemas(self) -> dict[str, TargetSchema]:
        """The columns that contracts keep, by target."""
        return {name: TargetSchema.of(at["S"]) for name, at in self.map("wmSchemas").items()}

    @property
    def refused(self) -> RefusedSchema | None:
        """What a contract has refused last; of the row of an acceptance, what was accepted."""
        text = self.string("wmRefused")
        return RefusedSchema.of(text) if text else None

    def _payload_key(self) -> str:
        maps = [name for name in self.payload_names if "M" in self.item[name]]
        if DEFAULT_KEY in maps or len(maps) == 1:
            return DEFAULT_KEY if DEFAULT_KEY in maps else maps[0]
        raise WatermarksError(
            f"the row {self.name!r} of {self.owner} has no {DEFAULT_KEY!r} map but "
            f"{sorted(self.payload_names)}: a row holds its watermarks in one map; "
            "read it with get_watermark, and start over with advance(..., base=None)"
        )


def is_payload(name: str) -> bool:
    """Return whether an attribute of a row is a caller's and not the library's."""
    return not (name in _KEYS or name == EXPIRES_AT or name.startswith("wm"))
