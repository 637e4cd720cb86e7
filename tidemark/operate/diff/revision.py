"""A revision of the code in a folder of its own, as Git has it."""

import io
import subprocess
import tarfile
from pathlib import Path

from tidemark.errors import UsageError

MAX_NAMED = 3  # files


def check_out(project: Path, revision: str, folder: Path) -> Path:
    """Write the files of a project at a revision into a folder; return that.

    Raises:
        UsageError: the project is in no repository, or Git does not know the revision.
    """
    if _git(project, "rev-parse", "--is-inside-work-tree").returncode:
        raise UsageError(
            f"{project} is not in a Git repository, so --code has no revisions; run tidemark in "
            "one, or compare two homes: --with-home PATH"
        )
    known = _git(project, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if known.returncode:
        raise UsageError(
            f"--code {revision!r} is not a commit that Git knows in {project}; name a branch, a "
            "tag or a commit, and fetch it first"
        )
    # Of a project that is a folder of a repository, `git archive` writes that folder.
    archive = _git(project, "archive", "--format=tar", known.stdout.decode().strip())
    if archive.returncode:
        raise UsageError(
            f"the project was not there at {revision!r}: {archive.stderr.decode().strip()}"
        )
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def uncommitted(project: Path) -> str:
    """Return which files of a working tree are not committed, in words; empty if all are."""
    lines = _git(project, "status", "--porcelain", "--", ".").stdout.decode().splitlines()
    names = [line[3:] for line in lines]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}" if names else ""


def _git(project: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *words], cwd=project, capture_output=True)  # noqa: S603, S607
    except OSError as error:
        raise UsageError(f"cannot run git: {error.strerror}; install it") from error
