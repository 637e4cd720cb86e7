"""Writes a new project: an app with one pipeline, one job with its test, and what runs them."""

import keyword
import re
import sys
from importlib.metadata import version
from pathlib import Path

from tidemark.errors import TidemarkError, UsageError
from tidemark.scaffold.new_job import NewJob, script_of, unit_test_of

TEMPLATE = Path(__file__).parent / "templates" / "project"
NAME = re.compile(r"(?=.{1,20}\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*")
FIRST_JOB = "ingest-orders"
DISTRIBUTION = "tidemark-glue"


def check_project_name(name: str) -> None:
    """Raise unless a name can be part of those of stacks, a Python module and a workflow.

    Raises:
        UsageError: it cannot.
    """
    module = name.replace("-", "_")
    if not NAME.fullmatch(name):
        raise UsageError(
            f"project name {name!r} cannot be part of the names of stacks and modules; allowed: up "
            "to 20 lower case letters and digits in words joined by single hyphens, a letter "
            "first, such as web-shop"
        )
    if keyword.iskeyword(module) or module in sys.stdlib_module_names:
        raise UsageError(
            f"project name {name!r} is a word or a module of Python; take another, such as "
            f"{name}-data"[:200]
        )


def plan_project(name: str) -> dict[str, str]:
    """Return the files of a new project, path in it to text; writes nothing.

    Raises:
        UsageError: the name cannot be one.
    """
    check_project_name(name)
    job = NewJob(FIRST_JOB, "bookmark-files", name)
    module = name.replace("-", "_")
    title = "".join(word.capitalize() for word in name.split("-"))
    files = {}
    for path in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
        if path.suffix == ".pyc":
            continue
        target = str(path.relative_to(TEMPLATE)).replace("template_project", module)
        text = path.read_text(encoding="utf-8")
        for old, new in (
            ("template-project", name),
            ("template_project", module),
            ("TemplateProject", title),
            ("TIDEMARK_VERSION", version(DISTRIBUTION)),
        ):
            text = text.replace(old, new)
        files[target] = text
    return files | {job.script: script_of(job), job.test: unit_test_of(job)}


def write_project(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a plan into a folder, which is made if it is not there.

    Raises:
        UsageError: the folder is not empty, or is no folder; nothing was written.
        TidemarkError: a file cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is there already and is not an empty folder; nothing was written; take "
            "another name, or empty it"
        )
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TidemarkError(f"cannot write {error.filename}: {error.strerror}") from error
