"""Formats the Python source that commands write, as the project does that gets it."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tidemark.errors import TidemarkError


def formatted(folder: Path, path: str, text: str) -> str:
    r"""Return Python source as the project in a folder formats it; unchanged without ruff.

    Raises:
        TidemarkError: ruff cannot format it.

    Example:
        `formatted(project, "infra/orders_stack.py", "x  = 1")` returns `"x = 1\n"`.
    """
    if find_spec("ruff") is None:
        return text
    where = folder if folder.is_dir() else Path.cwd()
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", path, "-"]
    run = subprocess.run(  # noqa: S603 (a fixed command)
        command, cwd=where, input=text, capture_output=True, text=True, encoding="utf-8"
    )
    if run.returncode != 0:
        raise TidemarkError(f"ruff cannot format {path}: {run.stderr.strip()}")
    return run.stdout
