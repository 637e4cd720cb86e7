"""What has each delivery, also one that came twice: folders of moved input, and lists of files."""

import re
from collections.abc import Iterable
from pathlib import Path

from tidemark.local_state.operations import COPY, DELETE, PUT
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.changes import is_of
from tidemark.operate.prove.judge import digest_of
from tidemark.operate.prove.judged import TargetRows

WORD = re.compile(r"[^\s\"\\,:\[\]{}]+")  # of a row as JSON, or of a text in one


def is_archive(baseline: Baseline, target: str) -> bool:
    """Return whether a run has moved its input to a target: files that are gone have its bytes."""
    deleted = {change.places[-1] for change in baseline.operations if change.kind == DELETE}
    moved = [uri for uri in baseline.sources if uri in deleted]
    if not moved or not target.startswith("s3://"):
        return False
    home = baseline.outcome.home
    kept = _digests(home.local_path(uri) for uri in _put(baseline, target) - deleted)
    return bool(kept) and kept <= _digests(baseline.base.local_path(uri) for uri in moved)


def is_of_markers(baseline: Baseline, target: str) -> bool:
    """Return whether the objects of a target say something by their names alone.

    A run has put several, and all have the same bytes.
    """
    put = _put(baseline, target) if target.startswith("s3://") else set()
    return len(put) > 1 and len(_digests(map(baseline.outcome.home.local_path, put))) == 1


def _put(baseline: Baseline, target: str) -> set[str]:
    """Return the objects of a target that a run has put there."""
    puts = (change for change in baseline.operations if change.kind in (PUT, COPY))
    return {change.places[-1] for change in puts if is_of(change, target)}


def names_files(rows: TargetRows, ending: str) -> bool:
    """Return whether a target differs in one row, by the name of one more file and nothing else."""
    if rows.verdict != "changed" or rows.added != 1 or rows.lost > 1:
        return False
    added, lost = (
        [WORD.findall(example) for example in rows.examples.get(which, ())]
        for which in ("added", "lost")
    )
    others = [[word for word in words if ending not in word] for words in added]
    return others != added and (not lost or [*map(sorted, others)] == [*map(sorted, lost)])


def _digests(files: Iterable[Path]) -> set[str]:
    return {digest_of(file) for file in files if file.is_file()}
