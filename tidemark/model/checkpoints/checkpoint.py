"""The checkpoint of a job run as plain data, and as the JSON document that is stored.

The same document is kept on this machine, in the state database, and on AWS, in the watermark
table, where the library `watermarks` writes it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

from tidemark.errors import UsageError
from tidemark.model.checkpoints.schemas import Schema

FORMAT = 3  # of the document
WITHOUT_SCHEMAS = 2  # the format that Tidemark reads which knows no schemas
APPEND: Final = "append"
OVERWRITE: Final = "overwrite"
PARTITIONS: Final = "overwrite_partitions"
WINDOW: Final = "window"
MERGE: Final = "merge"
UNKNOWN: Final = "unknown"
WriteMode: TypeAlias = Literal[
    "append", "overwrite", "overwrite_partitions", "window", "merge", "unknown"
]
Position: TypeAlias = Mapping[str, Any]
"""How far a source has been read: ``{"kind": "files", "until_ms": 1763931600000}`` or
``{"kind": "keys", "values": {"id": 1000}}``; values of a watermark are written as it shows them."""


@dataclass(frozen=True)
class DatasetRead:
    """A dataset that a run has read.

    Attributes:
        dataset: ``s3://bucket/folder/``, or ``jdbc:...#table``, ``dynamodb:table``, or of a format
            such as Iceberg ``table:database.table``.
        source: its transformation_ctx, or the name of its watermark; empty without.
        table: ``database.table`` of the Data Catalog, empty without a table.
        files: number of chosen files; None for a source without files.
        bytes: size of those files; None for a source without files.
        rows: that were handed to the script; None if not known.
        before: how far it had been read; None for nothing, or if nobody keeps it.
        after: how far it has been read now.
        is_committed: whether the committed windows of it were read, and nothing else: by the
            library's `read_committed`.
    """

    dataset: str
    source: str = ""
    table: str = ""
    files: int | None = None
    bytes: int | None = None
    rows: int | None = None
    before: Position | None = None
    after: Position | None = None
    is_committed: bool = False


@dataclass(frozen=True)
class DatasetWritten:
    """A dataset that a run has written.

    Attributes:
        dataset: ``s3://bucket/folder/``, or ``jdbc:...#table``, ``dynamodb:table``, or of a format
            such as Iceberg ``table:database.table``.
        mode: ``append`` doubles rows that are written again; ``overwrite`` replaces everything,
            ``overwrite_partitions`` the partitions it writes, ``window`` the folder of its window,
            ``merge`` rows of the same key; ``unknown`` if that cannot be known.
        table: ``database.table`` of the Data Catalog, empty without.
        rows: None if not known.
        files: None if not known, or for a target without files.
        snapshots: ids of those that it has added to a table of Iceberg, in order.
    """

    dataset: str
    mode: WriteMode = "unknown"
    table: str = ""
    rows: int | None = None
    files: int | None = None
    snapshots: tuple[str, ...] = ()


@dataclass(frozen=True)
class BookmarkMove:
    """The change of a run to the bookmark of its job.

    Attributes:
        option: ``job-bookmark-enable``, ``-pause`` or ``-disable``.
        before: the version it started from, 0 for none.
        after: the version in force when it ended; the same unless it committed.
    """

    option: str
    before: int = 0
    after: int = 0


@dataclass(frozen=True)
class WatermarkMove:
    """The change of a run to a watermark of its job or of one source of it.

    Attributes:
        table: the DynamoDB table.
        source: the source of the watermark; empty for the job's own.
        before: values as strings by name; None without a watermark.
        after: values as strings by name.
        before_version: of the head, 0 for none.
        after_version: of the head.
        windows: the committed ones, each ``{"cursor", "window_id", "low", "high"}``, as strings.
    """

    table: str
    source: str = ""
    before: Mapping[str, str] | None = None
    after: Mapping[str, str] = field(default_factory=dict)
    before_version: int = 0
    after_version: int = 0
    windows: tuple[Mapping[str, Any], ...] = ()


NOTHING_COMMITTED = "nothing committed"  # of a run that succeeded; the next one reads this again


@dataclass(frozen=True)
class Checkpoint:
    """The data that one job run has read, written and moved.

    Attributes:
        job_name: the job.
        run_id: ``jr_...``.
        committed_at_ms: epoch milliseconds of its last commit.
        workflow_run_id: ``wr_...``, empty for a run of no workflow.
        bookmark: None for a job without Glue's bookmark.
        watermarks: the ones it moved; empty for a job without watermarks.
        read: in the order of their opening.
        written: in the order of the first write.
        arguments: those of the run, with the dashes; secrets are not among them.
        code: SHA-256 in hexadecimal digits, of ``script`` and of ``libs``, as far as known.
        is_committed: whether it called ``Job.commit`` or moved a watermark.
        schemas: the columns of what it read and wrote, as far as they were observed.
    """

    job_name: str
    run_id: str
    committed_at_ms: int
    workflow_run_id: str = ""
    bookmark: BookmarkMove | None = None
    watermarks: tuple[WatermarkMove, ...] = ()
    read: tuple[DatasetRead, ...] = ()
    written: tuple[DatasetWritten, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    is_committed: bool = True
    schemas: tuple[Schema, ...] = ()

    @property
    def has_read_nothing(self) -> bool:
        """Whether everything it opened is known to have held nothing new."""
        amounts = [read.rows if read.files is None else read.files for read in self.read]
        return bool(amounts) and all(amount == 0 for amount in amounts)

    @property
    def is_read_again(self) -> bool:
        """Whether the next run reads the same: it has read by a position that it has not moved."""
        if self.is_committed or self.has_read_nothing:
            return False
        return any(read.after is not None for read in self.read)

    def to_json(self) -> dict[str, Any]:
        """Return the document that is stored, as plain JSON values."""
        document = {"format": FORMAT if self.schemas else WITHOUT_SCHEMAS, **asdict(self)}
        if not self.schemas:
            del document["schemas"]
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Checkpoint":
        """Return the checkpoint that `to_json` wrote."""
        if document["format"] > FORMAT:
            raise UsageError(
                f"the checkpoint of the run {document['run_id']} has format {document['format']}, "
                f"this Tidemark knows up to {FORMAT}; a newer one wrote it: use that one"
            )
        values = {name: value for name, value in document.items() if name != "format"}
        bookmark = values.get("bookmark")
        windows = [{**w, "windows": tuple(w["windows"])} for w in values.get("watermarks", ())]
        return cls(
            **{
                **values,
                "bookmark": BookmarkMove(**bookmark) if bookmark else None,
                "watermarks": tuple(WatermarkMove(**window) for window in windows),
                "read": tuple(DatasetRead(**read) for read in values.get("read", ())),
                "written": tuple(
                    DatasetWritten(**{**dataset, "snapshots": tuple(dataset.get("snapshots", ()))})
                    for dataset in values.get("written", ())
                ),
                "schemas": tuple(map(Schema.from_json, values.get("schemas", ()))),
            }
        )
