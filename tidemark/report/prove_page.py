"""The page of a proof: what a run changes, where it crashed, and which rows differ."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.baselines import ELSEWHERE
from tidemark.operate.prove.changes import described
from tidemark.operate.prove.findings import Finding, Proof
from tidemark.operate.prove.words import ANEW, by_cause, worst_targets
from tidemark.report.page import environment, style

STATES = {"equal": "ok", "accepted": "stopped", "told": "none", "not tried": "none"}
"""Class of a verdict on the page; `bad` for all others."""


@dataclass(frozen=True)
class ProofStep:
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
            others=[finding for finding in proof.findings if not is_of_first_run(finding)],
            # Each with its verdict, the targets of most rows, and the titles that have it.
            causes=[
                (verdict, cause, worst_targets(group), [f.experiment.title for f, _ in group])
                for (verdict, cause), group in by_cause(proof.findings).items()
            ],
            states=STATES,
            style=style(),
            elsewhere=ELSEWHERE,
            anew=ANEW,
        )
    )


def steps_of(proof: Proof) -> list[ProofStep]:
    """Return every change with its crash, in order."""
    crashes: Mapping[int, Finding] = {
        finding.experiment.after: finding for finding in proof.findings if is_of_first_run(finding)
    }
    return [
        ProofStep(operation, described(operation), crashes.get(operation.number))
        for operation in proof.operations
    ]


def is_of_first_run(finding: Finding) -> bool:
    """Return whether a finding is a crash in the run whose changes the page shows."""
    one = finding.experiment
    return one.kind == "crash" and bool(one.after) and not (one.is_in_increment or one.is_late)
