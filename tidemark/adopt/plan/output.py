"""Writes the files of adopted jobs: all or none, and none over another."""

from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.model.messages import not_written


def write_new(folder: Path, files: Mapping[str, str]) -> None:
    """Write new files by their path in the folder; a failure halfway leaves no file."""
    for path in files:
        if (folder / path).exists():
            raise UsageError(
                f"{folder / path} exists already and is not changed; nothing was written; take "
                "another --out or --name"
            )
    made: list[Path] = []
    try:
        for path, text in files.items():
            target = folder / path
            for parent in [p for p in reversed(target.parents) if not p.exists()]:
                parent.mkdir()
                made.append(parent)
            with target.open("x", encoding="utf-8") as file:
                made.append(target)
                file.write(text)
    except OSError as error:
        for path_made in reversed(made):
            path_made.rmdir() if path_made.is_dir() else path_made.unlink()
        raise not_written(error.filename, error) from error


def jobs_in(folder: Path) -> frozenset[str]:
    """Return the jobs whose scripts a project has in glue_jobs/, as its scripts are named."""
    scripts = (folder / "glue_jobs").glob("*.py")
    return frozenset(script.stem.replace("_", "-") for script in scripts)
