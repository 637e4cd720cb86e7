"""What `tidemark doctor` looks at: whether a thing is there, and which command cures it if not."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from rich.text import Text

from tidemark.app import find_node
from tidemark.cli.progress import print_output
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.runs.python_modules import versions_of
from tidemark.local_state.engine.executable import find_engine, package_name
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.home_folder import DEFAULT_HOME, check_home, folder_of_home
from tidemark.local_state.machine.disk import LITTLE, existing, render_size
from tidemark.local_state.machine.java import find_java
from tidemark.local_state.machine.loopback import show_endpoint
from tidemark.local_state.sparks.installed import installed_spark, own_glue_version
from tidemark.model.advice import advice_of
from tidemark.model.assembly.glue_versions import RUN_HERE, libraries_of

OK, NOTE, MISSING = "ok", "note", "missing"
LITTLE_BYTES = 2 * 1024**3  # of disk and of memory: a run of Spark needs about so much
MEMINFO = Path("/proc/meminfo")
SITE = "glue_job/site"
SETUPS = ("pyproject.toml", "pyrightconfig.json", "mypy.ini", "setup.cfg", ".vscode/settings.json")
GLUE_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: what it is.
        state: ok; missing, if runs on this machine need it; or note, if only some commands do.
        found: what was found, or why it is not usable.
        cure: the command or the change that cures it; empty if nothing is to do.
        id: of the advice; empty if nothing is to do.
    """

    name: str
    state: str
    found: str
    cure: str = ""
    id: str = ""


def problem(
    advice: str, state: str, found: str, *, name: str = "", cure: str = "", **values: str
) -> Finding:
    """Return what is not well with a thing, with the cure that the catalogue of advice has."""
    known = advice_of("doctor")[advice]
    cure = cure or known.remedy.format(**values)
    return Finding(name or advice.replace("-", " "), state, found, cure, known.id)


def findings(project: Path) -> Iterator[Finding]:
    """Yield what is known of this machine, and of the project in a folder."""
    has_app = (project / "cdk.json").is_file()
    yield python_finding(sys.version_info[:2])
    yield _package("pyspark", "pyspark", MISSING, "spark")
    yield from _libraries()
    yield _search("java", lambda: str(find_java()), MISSING)
    yield _search("dynamodb-engine", _engine, NOTE, package=package_name())
    needed = MISSING if has_app else NOTE
    node = os.environ.get("JSII_NODE")
    yield _search("node", lambda: find_node(node), needed)
    yield _package("aws_cdk", "aws-cdk-lib", needed, "aws-cdk")
    yield _report()
    yield _home()
    home = existing(Path(os.environ.get("TIDEMARK_HOME") or project / DEFAULT_HOME).absolute())
    yield disk_finding(home, free_bytes(home))
    try:
        meminfo = MEMINFO.read_text(encoding="ascii")
    except OSError:  # such as on macOS
        meminfo = ""
    yield memory_finding(available_bytes(meminfo))
    yield editor_finding(project, Path(__file__).parents[1])


def python_finding(python: Sequence[int]) -> Finding:
    """Return whether this Python is the one of Glue 5.1."""
    text = ".".join(map(str, python))
    if tuple(python) == GLUE_PYTHON:
        return Finding("python", OK, text)
    return problem("python", NOTE, f"{text}; Glue 5.1 has 3.11")


def _libraries() -> Iterator[Finding]:
    # A version without a Python of its own runs on that of another, which is looked at there.
    if find_spec("pyspark") is None:
        return
    own = own_glue_version()
    for version_of_glue in RUN_HERE:
        spark = installed_spark(version_of_glue)
        if spark and (version_of_glue == own or not spark.is_own):
            yield library_finding(version_of_glue, versions_of(spark.python))


def library_finding(glue_version: str, version_of: Callable[[str], str | None]) -> Finding:
    """Return which libraries of AWS's list are missing here, or have another version."""
    libraries = libraries_of(glue_version)
    here = {name: version_of(name) for name in libraries}
    missing = [f"{name} {libraries[name]}" for name, version in here.items() if version is None]
    others = [
        f"{name} {version} (AWS {libraries[name]})"
        for name, version in here.items()
        if version and version.split(".")[:2] != libraries[name].split(".")[:2]
    ]
    title, text = f"libraries of Glue {glue_version}", f"AWS has {len(libraries)}"
    if not missing and not others:
        return Finding(title, OK, f"{text}, and so has this machine")
    text += f"; here is another version of {', '.join(others)}" if others else ""
    text += f"; not installed here: {', '.join(missing)}" if missing else ""
    return problem("libraries", NOTE, text, name=title)


def _package(module: str, package: str, state: str, name: str) -> Finding:
    if find_spec(module) is None:
        return problem(name, state, f"the package {package} is not installed", name=name)
    try:
        return Finding(name, OK, f"{package} {version(package)}")
    except PackageNotFoundError:
        return Finding(name, OK, package)


def _search(name: str, ask: Callable[[], str], state: str, **values: str) -> Finding:
    try:
        return Finding(name.replace("-", " "), OK, ask())
    except TidemarkError as error:
        return problem(name, state, str(error), **values)


def _engine() -> str:
    if other := os.environ.get(ENDPOINT_VARIABLE):
        return f"{ENDPOINT_VARIABLE} names {show_endpoint(other)}"
    return str(find_engine(ENDPOINT_VARIABLE))


def _report() -> Finding:
    if find_spec("jinja2") is None:
        cure = "pip install 'tidemark-glue[report]'"
        return problem("report", NOTE, "the package jinja2 is not installed", cure=cure)
    return Finding("report", OK, f"jinja2 {version('jinja2')}")


def _home() -> Finding:
    try:
        root = folder_of_home()
        check_home(root)
    except UsageError as error:
        what, _, cure = str(error).partition("; ")
        return problem("home", MISSING, what, cure=cure)
    return Finding("home", OK, f"state is kept in {root}")


def free_bytes(folder: Path) -> int:
    """Return how much of the disk of a folder users without rights can still fill."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def disk_finding(folder: Path, free: int) -> Finding:
    """Return whether the disk of a folder has room for runs."""
    text = f"{render_size(free)} are free at {folder}"
    if free >= LITTLE_BYTES:
        return Finding("disk", OK, text)
    return problem("disk", MISSING if free < LITTLE else NOTE, text)


def available_bytes(meminfo: str) -> int | None:
    """Return how much memory programs can still get; None if that is not known.

    Example: available_bytes("MemAvailable:    2048 kB") is 2097152.
    Source: https://man7.org/linux/man-pages/man5/proc_meminfo.5.html
    """
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def memory_finding(available: int | None) -> Finding:
    """Return whether there is memory for a run of Spark."""
    if available is None:
        return Finding("memory", OK, "this system does not say how much is free")
    text = f"{render_size(available)} are free"
    if available >= LITTLE_BYTES:
        return Finding("memory", OK, text)
    return problem("memory", NOTE, text)


def editor_finding(project: Path, package: Path) -> Finding:
    """Return whether editors and type checkers find `awsglue`.

    A wheel has stubs next to its package. A clone has none: the settings of the project name the
    folder of the modules.
    """
    stubs = package.parent / "awsglue-stubs"
    if stubs.is_dir():
        return Finding("editor", OK, f"the types of awsglue are in {stubs}")
    for name in SETUPS:
        if (project / name).is_file() and SITE in (project / name).read_text(encoding="utf-8"):
            return Finding("editor", OK, f"{name} names the modules of awsglue")
    text = "editors and type checkers do not find awsglue"
    return problem("editor", NOTE, text, site=str(package / SITE))


def is_healthy(all_findings: Sequence[Finding]) -> bool:
    """Return whether nothing is missing that runs on this machine need."""
    return all(finding.state != MISSING for finding in all_findings)


FAILURE = 1
MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "missing": ("✗", "bold red")}


def _lines_of(all_findings: Sequence[Finding]) -> Iterator[Text]:
    for finding in all_findings:
        advice = f" ({finding.id})" if finding.id else ""
        yield Text.assemble(MARKS[finding.state], f" {finding.name}: {finding.found}{advice}")
        if finding.cure:
            yield Text(f"    {finding.cure}")


def doctor(output: str) -> None:
    all_findings = list(findings(Path.cwd()))
    print_output(output, list(map(asdict, all_findings)), _lines_of(all_findings))
    if not is_healthy(all_findings):
        sys.exit(FAILURE)
