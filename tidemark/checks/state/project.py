"""The state manifest and the plan of a project: compared with its app, and written."""

import json
import subprocess
from pathlib import Path

from tidemark.checks.state.losses import Loss, LossKind
from tidemark.checks.state.manifest import CONTRACT, MANIFEST, Manifest, read_manifest
from tidemark.checks.state.plan import PLAN, read_plan
from tidemark.checks.state.read_app import read_app_folder
from tidemark.checks.state.review import Review, check_writable, review
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.messages import plural


def stage_names(project: Path) -> tuple[str, ...]:
    """Return the names of the stages in the context of ``cdk.json``, none without such a file."""
    try:
        context = json.loads((project / "cdk.json").read_text(encoding="utf-8"))["context"]
        return tuple(context["tidemark:stages"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()  # the synthesis reports the problem of the file


def review_project(project: Path, assembly: Path, *, may_start: bool = False) -> Review:
    """Compare an assembly with the manifest and the plan of a project."""
    old = read_manifest(project / MANIFEST)
    if old is None and not may_start:
        raise TidemarkError(
            f"there is no {MANIFEST} in {project}, so the losses by a change are not known; run "
            "`tidemark state write` and commit the file"
        )
    app = read_app_folder(assembly, stage_names(project))
    return review(old or Manifest(), app, read_plan(project / PLAN))


def contract_losses(project: Path, assembly: Path) -> list[Loss]:
    """Return the contracts of an assembly that lose columns or types, and no one has decided so.

    A project without a manifest, or with one that holds no contract, has none. What else would be
    lost, and a manifest or a plan that cannot be read, `review_project` tells.
    """
    try:
        old = read_manifest(project / MANIFEST)
        if old is None or not any(of.type == CONTRACT for of in old.resources.values()):
            return []
        lost = review_project(project, assembly).unacknowledged
    except TidemarkError:
        return []
    return [loss for loss in lost if loss.kind is LossKind.COLUMNS_CHANGED]


def review_since(project: Path, assembly: Path, revision: str) -> Review:
    """Compare an assembly with the manifest that a revision of Git has, and the plan of a project.

    A manifest that was deleted, edited or reverted together with the app hides nothing from this.
    """
    known = _git(project, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if known.returncode != 0:
        raise UsageError(
            f"--since {revision!r} is not a commit that Git knows in {project}"
            f"{': ' if known.stderr else ''}{known.stderr.strip()}; name a branch or a commit, and "
            "fetch it first"
        )
    manifest = _git(project, "show", f"{known.stdout.strip()}:./{MANIFEST}")
    name = f"{MANIFEST} of {revision}"
    old = Manifest.parse(manifest.stdout, name) if manifest.returncode == 0 else Manifest()
    app = read_app_folder(assembly, stage_names(project))
    return review(old, app, read_plan(project / PLAN))


def _git(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *words]
    try:
        return subprocess.run(command, cwd=project, capture_output=True, text=True)  # noqa: S603
    except OSError as error:
        raise UsageError(f"cannot run git: {error.strerror}; install it") from error


def write_manifest(project: Path, assembly: Path) -> str:
    """Make the manifest of a project that of an assembly; return the changes in words."""
    reviewed = review_project(project, assembly, may_start=True)
    check_writable(reviewed)
    if reviewed.is_current:
        return f"{MANIFEST} is up to date"
    path = project / MANIFEST
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(reviewed.written.render(), encoding="utf-8")
    unfinished.replace(path)
    return (
        f"{MANIFEST} is written: {plural(len(reviewed.written.jobs), 'job')}; review and commit it"
    )
