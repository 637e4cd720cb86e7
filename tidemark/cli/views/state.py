"""Shows what a change of the app would lose of its state, and keeps the state manifest."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidemark.checks.state.findings import Finding
from tidemark.checks.state.manifest import MANIFEST, Manifest, read_manifest
from tidemark.checks.state.plan import PLAN, PlanEntry, read_plan
from tidemark.checks.state.read_app import read_app_folder
from tidemark.checks.state.review import Review, changes, check_writable, review
from tidemark.errors import TidemarkError, UsageError

STAGES = "tidemark:stages"


def stage_names(project: Path) -> tuple[str, ...]:
    """Return the names of the stages in the context of ``cdk.json``, none without such a file."""
    try:
        context = json.loads((project / "cdk.json").read_text(encoding="utf-8"))["context"]
        return tuple(context[STAGES])
    except (OSError, ValueError, KeyError, TypeError):
        return ()  # the synthesis names what is wrong with the file


def review_project(project: Path, assembly: Path, *, may_begin: bool = False) -> Review:
    """Compare an assembly with the manifest and the plan of a project.

    Args:
        project: the folder of both.
        assembly: the synthesized app.
        may_begin: whether there need not be a manifest yet.

    Raises:
        TidemarkError: there is no manifest.
        UsageError: one of the files is not what it should be.
    """
    old = read_manifest(project / MANIFEST)
    if old is None and not may_begin:
        raise TidemarkError(
            f"there is no {MANIFEST} in {project}, so what a change would lose is not known; run "
            "`tidemark state write` and commit the file"
        )
    app = read_app_folder(assembly, stage_names(project))
    return review(old or Manifest(), app, read_plan(project / PLAN))


def review_since(project: Path, assembly: Path, revision: str) -> Review:
    """Compare an assembly with the manifest that a revision of Git has, and the plan of a project.

    A manifest that was deleted, edited or reverted together with the app hides nothing from this.

    Raises:
        UsageError: Git does not know the revision, or one of the files is not what it should be.
    """
    known = _git(project, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if known.returncode != 0:
        raise UsageError(
            f"--since {revision!r} is no commit that Git knows in {project}"
            f"{': ' if known.stderr else ''}{known.stderr.strip()}; name a branch or a commit, and "
            "fetch it first"
        )
    found = _git(project, "show", f"{known.stdout.strip()}:./{MANIFEST}")
    name = f"{MANIFEST} of {revision}"
    old = Manifest.from_text(found.stdout, name) if found.returncode == 0 else Manifest()
    app = read_app_folder(assembly, stage_names(project))
    return review(old, app, read_plan(project / PLAN))


def _git(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *words]
    try:
        return subprocess.run(command, cwd=project, capture_output=True, text=True)  # noqa: S603
    except OSError as error:
        raise UsageError(f"cannot run git: {error.strerror}; install it") from error


def write_manifest(project: Path, assembly: Path) -> str:
    """Make the manifest of a project that of an assembly; return in words what was done.

    Raises:
        TidemarkError: state would be dropped that the plan does not acknowledge.
    """
    found = review_project(project, assembly, may_begin=True)
    check_writable(found)
    if found.is_current:
        return f"{MANIFEST} is up to date"
    path = project / MANIFEST
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(found.written.to_text(), encoding="utf-8")
    unfinished.replace(path)
    return f"{MANIFEST} is written: {len(found.written.jobs)} jobs; review and commit it"


def review_json(found: Review) -> dict[str, Any]:
    """Return a review as plain JSON values."""
    return {
        "is_safe": found.is_safe,
        "is_current": found.is_current,
        "unacknowledged": [_finding_json(finding) for finding in found.unacknowledged],
        "acknowledged": [
            {**_finding_json(finding), "by": dict(entry.document)}
            for finding, entry in found.acknowledged
        ],
        "unused": [{"entry": dict(entry.document), "why": why} for entry, why in found.unused],
        "changes": changes(found.recorded, found.written),
    }


def _finding_json(finding: Finding) -> dict[str, str]:
    return {
        "kind": finding.kind.value,
        "subject": finding.subject,
        "transformation_ctx": finding.ctx,
        "lost": finding.lost,
        "remedy": finding.remedy,
    }


def since_lines(found: Review, revision: str) -> Iterator[str]:
    """Yield what `tidemark state check --since` prints of the review since a revision."""
    if found.is_safe:
        yield f"nothing is lost since {revision}"
        return
    yield from _findings(found)
    yield (
        f"lost since {revision}, and the plan does not say so: `git checkout {revision} -- "
        f"{MANIFEST}`, decide in {PLAN}, then `tidemark state write`: see docs/state.md"
    )


def review_lines(found: Review) -> Iterator[str]:
    """Yield what `tidemark state check` prints."""
    yield from _findings(found)
    if not found.is_safe:
        yield (
            f"losses that nobody acknowledged: {len(found.unacknowledged)}; decide on each in "
            f"{PLAN}, a JSON list of such entries: see docs/state.md"
        )
    elif not found.is_current:
        yield from (f"~ {line}" for line in changes(found.recorded, found.written))
        yield (
            f"{MANIFEST} is out of date, and nothing is lost: run `tidemark state write` and "
            "commit it"
        )
    else:
        yield f"{MANIFEST} is up to date: nothing is lost"


def _findings(found: Review) -> Iterator[str]:
    for finding in found.unacknowledged:
        yield f"✗ {_title(finding)}\n    lost: {finding.lost}\n    do:   {finding.remedy}"
    for finding, entry in found.acknowledged:
        yield f"✓ {_title(finding)}, acknowledged by {entry.text}"
    for entry, why in found.unused:
        yield _unused(entry, why)


def _title(finding: Finding) -> str:
    ctx = f" {finding.ctx}" if finding.ctx else ""
    return f"{finding.subject}: {finding.kind.value}{ctx}"


def _unused(entry: PlanEntry, why: str) -> str:
    return f"✗ {PLAN}: {entry.text} covers nothing: {why}; take it out"
