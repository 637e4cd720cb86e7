"""What a run notes about its JVM, in a file of its folder: the engine reads it when it is over."""

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "jvm.json"


@dataclass(frozen=True)
class JvmRecord:
    """The JVM of a run.

    Attributes:
        kind: ``warm`` if it ran another run before, else ``cold``.
        why: why the run did not borrow one; empty if it did.
        is_lent: whether the run has borrowed it and not given it back.
        folder: the JVM's own folder, which its command line names; empty if it is not of a pool.
    """

    kind: str
    why: str = ""
    is_lent: bool = True
    folder: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}" if self.why else self.kind


def write_record(folder: Path, record: JvmRecord) -> None:
    """Write the record of a run into its folder."""
    unfinished = folder / f"{FILE}.unfinished"
    with contextlib.suppress(OSError):  # on a full disk; the engine then asks the pool itself
        unfinished.write_text(json.dumps(asdict(record)), encoding="utf-8")
        unfinished.replace(folder / FILE)


def read_record(folder: Path) -> JvmRecord | None:
    """Return the record of a run; None if its script did not start Spark."""
    try:
        return JvmRecord(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
