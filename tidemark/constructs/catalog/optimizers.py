"""What AWS does with a table of Iceberg by itself: it compacts files, and deletes old ones.

Sources: https://docs.aws.amazon.com/glue/latest/dg/table-optimizers.html,
https://docs.aws.amazon.com/glue/latest/webapi/API_TableOptimizerConfiguration.html
"""

from dataclasses import dataclass
from typing import TypeAlias

from tidemark.model.checked import checked, wrong

STRATEGIES = ("binpack", "sort", "z-order")


@checked
@dataclass(frozen=True)
class Compaction:
    """Rewrites small files of a table as larger ones, and applies the deletes in them.

    Attributes:
        strategy: `binpack`, `sort` or `z-order`; the last two need a sort order of the table. None:
            that of AWS, `binpack`.
        min_input_files: files that a partition must have; None: AWS's 100.
        delete_file_threshold: deletes that a file must have; None: AWS's 1.

    Raises:
        JobDefinitionError: a value is not allowed.

    Example:
        >>> Compaction("binpack", min_input_files=50).min_input_files
        50
    """

    strategy: str | None = None
    min_input_files: int | None = None
    delete_file_threshold: int | None = None

    def __post_init__(self) -> None:
        if self.strategy not in (None, *STRATEGIES):
            raise wrong("Compaction", "strategy", self.strategy, f"None, {', '.join(STRATEGIES)}")
        _check_from_one(self, "min_input_files", "delete_file_threshold")


@checked
@dataclass(frozen=True)
class SnapshotRetention:
    """Deletes old snapshots of a table, with the files that only they have.

    A job that reads what was added since a snapshot, and time travel, need it: retain snapshots for
    longer than a job may stand still.

    Attributes:
        days: for which snapshots are retained; None: the property of the table, or AWS's 5.
        snapshots: how many are retained at least; None: the property of the table, or AWS's 1.
        clean_expired_files: False keeps the files; None: as AWS decides.

    Raises:
        JobDefinitionError: a value is not allowed.

    Example:
        >>> SnapshotRetention(days=7, snapshots=10).days
        7
    """

    days: int | None = None
    snapshots: int | None = None
    clean_expired_files: bool | None = None

    def __post_init__(self) -> None:
        _check_from_one(self, "days", "snapshots")


@checked
@dataclass(frozen=True)
class OrphanFileDeletion:
    """Deletes files in the folder of a table that none of its snapshots has.

    Files of a write that is under way are such files: choose more days than a run can take.

    Attributes:
        days: for which such files are kept; None: AWS's 3.

    Raises:
        JobDefinitionError: a value is not allowed.

    Example:
        >>> OrphanFileDeletion(days=7).days
        7
    """

    days: int | None = None

    def __post_init__(self) -> None:
        _check_from_one(self, "days")


Optimizer: TypeAlias = Compaction | SnapshotRetention | OrphanFileDeletion


def _check_from_one(of: Optimizer, *names: str) -> None:
    for name in names:
        value = getattr(of, name)
        if value is not None and value < 1:
            raise wrong(type(of).__name__, name, value, "None, or an integer from 1")
