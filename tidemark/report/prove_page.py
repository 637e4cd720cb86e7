"""The page of a proof: what a run changes, where it crashed, and which rows differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.baselines import ELSEWHERE
from tidemark.operate.prove.changes import described
from tidemark.operate.prove.findings import Finding, Proof
from tidemark.operate.prove.words import ANEW
from tidemark.report.page import environment, style

STATES = {"equal": "ok", "accepted": "stopped", "not tried": "none"}
"""Class of a verdict on the page; `bad` for all others."""


@dataclass(frozen=True)
class Step:
    """One change of the run, and what a crash after it leaves; None if none was tried."""

    operation: Operation
    text: str
    finding: Finding | None


def proof_page(proof: Proof, name: str) -> str:
    """Return the page as one HTML document that loads nothing."""
    return (
        environment()
        .get_template("prove.html.jinja")
        .render(
            name=name,
            proof=proof,
            steps=steps_of(proof),
            others=[one for one in proof.findings if not is_of_first_run(one)],
            causes=causes_of(proof.findings),
            states=STATES,
            style=style(),
            elsewhere=ELSEWHERE,
            anew=ANEW,
        )
    )


def steps_of(proof: Proof) -> list[Step]:
    """Return every change with its crash, in order."""
    crashes: Mapping[int, Finding] = {
        one.experiment.after: one for one in proof.findings if is_of_first_run(one)
    }
    return [Step(one, described(one), crashes.get(one.number)) for one in proof.operations]


def is_of_first_run(finding: Finding) -> bool:
    """Return whether a finding is a crash in the run whose changes the page shows."""
    one = finding.experiment
    return one.kind == "crash" and bool(one.after) and not (one.is_in_increment or one.is_late)


def causes_of(findings: Sequence[Finding]) -> list[tuple[Finding, list[str]]]:
    """Return for each cause the finding with most rows, and the titles of all that have it."""
    found: dict[tuple[str, object], list[Finding]] = {}
    for one in findings:
        if one.cause and one.verdict not in STATES:
            found.setdefault((one.verdict, one.cause), []).append(one)
    return [
        (max(group, key=_differing), [it.experiment.title for it in group])
        for group in found.values()
    ]


def _differing(finding: Finding) -> int:
    return sum(one.differing for one in finding.targets)
