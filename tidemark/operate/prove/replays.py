"""Keeps the states from which a proof has seen a job go wrong, to look at and to run on from."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.findings import BAD, Finding
from tidemark.operate.prove.homes import linked_home

FOLDER, FACTS = "replays", "replay.json"
LENGTH = 6


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
    home: Home,
    command: Mapping[str, Any],
    findings: Mapping[str, Finding],
    outcomes: Mapping[str, tuple[Outcome, str | None]],
) -> list[Finding]:
    """Keep the states before the last runs that went wrong, in place of those of earlier proofs.

    Return the findings, those that are kept with the names of their states. `command` is what was
    proved, as `kept_command` returns it.
    """
    folder, named, titles = home.root / FOLDER, list[Finding](), Counter[str]()
    shutil.rmtree(folder, ignore_errors=True)
    for root, finding in findings.items():
        outcome, job = outcomes.get(root, (None, None))
        start = outcome.start if outcome else None
        if finding.verdict not in BAD or start is None:
            named.append(finding)
            continue
        title = finding.experiment.title
        titles[title] += 1
        told = title if titles[title] == 1 else f"{title}, {titles[title]}"  # a line that loops
        name = hashlib.sha256(told.encode()).hexdigest()[:LENGTH]
        linked_home(start, folder / name)
        facts = {"title": title, "job": job, "command": dict(command)}
        (folder / name / FACTS).write_text(json.dumps(facts), encoding="utf-8")
        named.append(replace(finding, replay=name))
    return named


def kept_command(home: Home, name: str) -> dict[str, Any]:
    """Return what was proved when a state was kept.

    Raises:
        UsageError: none has this name.
    """
    known = sorted(file.parent.name for file in (home.root / FOLDER).glob(f"*/{FACTS}"))
    if name not in known:
        allowed = f"allowed are {', '.join(known)}" if known else "it found nothing bad"
        raise UsageError(f"--replay {name}: no state of the last proof has this name; {allowed}")
    return dict(_facts(home, name)["command"])


def kept_state(home: Home, name: str) -> Replay:
    """Return a copy of a state that is kept, for a run from it; `kept_command` knows the name."""
    facts, copy = _facts(home, name), home.root / FOLDER / f"{name}-run"
    shutil.rmtree(copy, ignore_errors=True)
    kept = linked_home(Home(home.root / FOLDER / name), copy)
    return Replay(facts["title"], facts["job"], kept)


def _facts(home: Home, name: str) -> dict[str, Any]:
    file = home.root / FOLDER / name / FACTS
    facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return facts
