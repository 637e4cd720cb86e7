"""Keeps the states from which a proof has seen a job go wrong, to look at and to run on from."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.findings import BAD, Finding
from tidemark.operate.prove.homes import linked_home

FOLDER, FACTS = "replays", "replay.json"
LENGTH = 6
MAX_KEPT = 20


@dataclass(frozen=True)
class Replay:
    """A state that is kept.

    Attributes:
        title: what has led to it.
        job: the job that runs on from it; None for all of a workflow, or a script.
        home: the state.
    """

    title: str
    job: str | None
    home: Home


def keep(
    home: Home, findings: Mapping[str, Finding], outcomes: Mapping[str, tuple[Outcome, str | None]]
) -> list[Finding]:
    """Keep the states before the last runs that went wrong, in place of those of earlier proofs.

    Return the findings, those that are kept with the names of their states.
    """
    folder, named, causes = home.root / FOLDER, [], set[object]()
    shutil.rmtree(folder, ignore_errors=True)
    for root, finding in findings.items():
        outcome, job = outcomes.get(root, (None, None))
        start, cause = outcome and outcome.start, (finding.verdict, finding.cause)
        is_kept = finding.verdict in BAD and start and cause not in causes
        if not is_kept or not start or len(causes) == MAX_KEPT:
            named.append(finding)
            continue
        causes.add(cause)
        title = finding.experiment.title
        name = hashlib.sha256(f"{title} {len(causes)}".encode()).hexdigest()[:LENGTH]
        linked_home(start, folder / name)
        facts = json.dumps({"title": title, "job": job})
        (folder / name / FACTS).write_text(facts, encoding="utf-8")
        named.append(replace(finding, replay=name))
    return named


def kept_state(home: Home, name: str) -> Replay:
    """Return a copy of a state that is kept, for a run from it.

    Raises:
        UsageError: none has this name.
    """
    folder = home.root / FOLDER
    file = folder / name / FACTS
    if not file.is_file():
        known = sorted(one.parent.name for one in folder.glob(f"*/{FACTS}"))
        raise UsageError(
            f"--replay {name}: no state of the last proof has this name; {_allowed(known)}"
        )
    facts = json.loads(file.read_text(encoding="utf-8"))
    copy = folder / f"{name}-run"
    shutil.rmtree(copy, ignore_errors=True)
    return Replay(facts["title"], facts["job"], linked_home(Home(folder / name), copy))


def _allowed(known: Sequence[str]) -> str:
    return (
        f"allowed are {', '.join(known)}" if known else "prove the job first: it found nothing bad"
    )
