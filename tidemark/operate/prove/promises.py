"""What the contracts of a job promise of a file with other columns, and whether it is kept."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tidemark.model.drift import Drift
from tidemark.model.messages import plural
from tidemark.operate.prove.judged import Verdict

WHAT: Final[Mapping[Drift, str]] = {
    "more": "a file with a column more",
    "fewer": "files with a column fewer",
    "type": "a file with a value of another type",
}
# The term of a contract that decides, with its default.
TERMS: Final[Mapping[Drift, tuple[str, str]]] = {
    "more": ("columns", "evolve"),
    "fewer": ("missing", "null"),
    "type": ("types", "evolve"),
}
REFUSAL = "SchemaContractError"
Contract = Mapping[str, Any]
"""The terms of a contract, and the `place` of its data; empty where the script applies it."""


@dataclass(frozen=True)
class Promise:
    """What is promised: the mode of a contract; without one, why none is known."""

    mode: str = ""
    unknown: str = ""


@dataclass(frozen=True)
class DriftFacts:
    """What a run over a file with other columns has left.

    Attributes:
        failure: why the run failed; empty if it SUCCEEDED.
        written: the lines by which a run that failed has written or committed all the same.
        after: the verdict on the rows after one more run, with the file as it was, if it failed.
        short: how many rows a target lacks that are in no quarantine either.
        over: how many rows a target has more than it should, or more often.
        drifted_rows: how many rows the files have that are otherwise.
        is_kept: whether the value of the column is in what the run has written.
        problem: why the rows could not be compared; empty if they were.
        unreadable: columns that files of a target have with types nobody reads together.
    """

    failure: str = ""
    written: Sequence[str] = ()
    after: Verdict = "equal"
    short: int = 0
    over: int = 0
    drifted_rows: int = 0
    is_kept: bool = True
    problem: str = ""
    unreadable: Mapping[str, Sequence[str]] = field(default_factory=dict)


def promise_of(
    contracts: Sequence[Contract], file: str, sources: Sequence[str], drift: Drift, column: str
) -> Promise:
    """Return what the contracts of a run promise of a file.

    Those of its own data count; without any, those of targets and of the script.

    Args:
        contracts: of the run.
        file: its URI.
        sources: URIs of all files that are new to the run.
        drift: what is otherwise.
        column: that is otherwise.
    """
    of_files = [contract for contract in contracts if any(_has(contract, uri) for uri in sources)]
    own = [contract for contract in of_files if _has(contract, file)]
    # What the script applies is also noted without its place.
    of_others = [_terms(contract) for contract in of_files if contract not in own]
    chosen = own or [contract for contract in contracts if _terms(contract) not in of_others]
    if not chosen:
        return Promise(unknown="no contract")
    columns = " ".join(contract.get("schema", "") for contract in chosen)
    if not columns.strip():
        return Promise(unknown="a contract without columns of its own")
    if drift != "more" and not re.search(rf"(?i)\b{re.escape(column)}\b", columns):
        return Promise(unknown=f"a contract without the column {column}")
    name, default = TERMS[drift]
    modes = sorted({contract.get(name, default) for contract in chosen})
    if len(modes) > 1:
        return Promise(unknown=f"contracts of {name} {' and '.join(modes)}")
    return Promise(modes[0])


def _has(contract: Contract, file: str) -> bool:
    """Return whether a file is of the data of a contract."""
    return bool(contract["place"]) and file.startswith(f"{contract['place'].rstrip('/')}/")


def _terms(contract: Contract) -> tuple[object, ...]:
    return tuple(contract.get(name, default) for name, default in TERMS.values())


def verdict_of(promise: Promise, drift: Drift, facts: DriftFacts) -> tuple[Verdict, str]:
    """Return the verdict on a run over a file with other columns, and what has happened.

    Example:
        >>> verdict_of(Promise("freeze"), "more", DriftFacts(short=3))
        ('lost', 'columns="freeze", and the run SUCCEEDED: 3 rows missing')
    """
    said = f'{TERMS[drift][0]}="{promise.mode}"' if promise.mode else promise.unknown
    verdict, what = (_after_failure if facts.failure else _judged)(promise, drift, facts)
    return verdict, f"{said}, and {what}"


def _after_failure(promise: Promise, drift: Drift, facts: DriftFacts) -> tuple[Verdict, str]:
    is_refusal = REFUSAL in facts.failure
    how = "the run is refused" if is_refusal else f"the run fails ({facts.failure})"
    if facts.written:
        how += f" after a write or a commit by {' and '.join(facts.written)}"
    if facts.problem:
        return "not tried", facts.problem
    if facts.after != "equal":
        return facts.after, f"{how}; with the file as it was, the next run does not put it right"
    if facts.written and promise.mode:
        return "changed", how
    if not promise.mode:
        cleanly = "" if facts.written else " cleanly"
        return "told", f"{how}{cleanly}: with the file as it was, the next run is equal"
    may_refuse = promise.mode == "freeze" or (promise.mode == "evolve" and drift == "type")
    if not may_refuse:
        return "fails", how
    return ("equal", how) if is_refusal else ("told", f"{how} before the contract refuses it")


def _judged(promise: Promise, drift: Drift, facts: DriftFacts) -> tuple[Verdict, str]:
    """Return the verdict on a run that SUCCEEDED."""
    allowed = 0 if promise.mode else facts.drifted_rows  # what becomes of its own rows is told
    how = "the run SUCCEEDED: "
    if facts.short > allowed:
        rows = plural(facts.short - allowed, "row")
        return "lost", f"{how}{rows} missing{'' if promise.mode else ', of other files'}"
    if facts.over > allowed:
        return "doubled", f"{how}rows are there more often"
    if facts.unreadable:
        columns = [f"{name} ({' and '.join(kinds)})" for name, kinds in facts.unreadable.items()]
        # Such files are written on AWS as well, and a proof judges what a job promises.
        verdict: Verdict = "changed" if promise.mode else "told"
        return verdict, f"{how}nobody reads a column of two types: {', '.join(columns)}"
    if facts.problem:
        return "not tried", facts.problem
    verdict, what = _of_rows(promise, drift, facts)
    return verdict, f"{how}{what}"


def _of_rows(promise: Promise, drift: Drift, facts: DriftFacts) -> tuple[Verdict, str]:
    """Return the verdict on rows that are all there."""
    has_value = drift == "fewer" or facts.is_kept
    if promise.mode == "freeze":
        # A job that reads all files has the column from those of earlier runs.
        is_sure = drift != "fewer"
        return ("changed", "it is not refused") if is_sure else ("told", "no frame lacks it")
    if promise.mode:
        is_right = has_value or promise.mode == "discard"
        return ("equal", "as promised") if is_right else ("lost", "the value is lost")
    if facts.short:
        return "told", f"{facts.short} of the {facts.drifted_rows} rows are left out"
    if drift == "fewer":
        return "told", "its rows are there"
    return "told", f"the value is {'written' if has_value else 'left out'}"
