"""Writes a new project: an app with one pipeline, one job with its test, and what runs them."""

import json
import keyword
import re
import sys
from importlib.metadata import version
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.scaffold.files import write_files
from tidemark.scaffold.new_job import NewJob, script_of, unit_test_of
from tidemark.scaffold.sample_files import sample_files, sample_root

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"(?=.{1,20}\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*")
STACK_FILES = ("app.py", "infra/", "tests/test_app.py")  # of a template that the sample replaces


def check_project_name(name: str) -> None:
    """Raise unless a name can be part of those of stacks, a Python module and a workflow."""
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
    """Return the files of a new project by their path in it; writes nothing."""
    check_project_name(name)
    job = NewJob("ingest-orders", "bookmark-files", name)
    files = _rendered(name, TEMPLATES / "project")
    return files | {job.script: script_of(job), job.test: unit_test_of(job)}


def plan_sample(name: str) -> dict[str, str]:
    """Return the files of a project that is the sample, under its own name."""
    check_project_name(name)
    root = sample_root()
    own = {path: (root / path).read_text(encoding="utf-8") for path in sample_files(root)}
    document = json.loads(own["cdk.json"])
    for stage in document["context"]["tidemark:stages"].values():
        stage["namePrefix"] = name
    own["cdk.json"] = f"{json.dumps(document, indent=2)}\n"
    own["package.json"] = own["package.json"].replace('"name": "tidemark"', f'"name": "{name}"', 1)
    common = _rendered(name, TEMPLATES / "project")
    files = {path: text for path, text in common.items() if not path.startswith(STACK_FILES)}
    files["requirements.txt"] += "duckdb>=1,<3\nnycflights13==0.0.3\n"
    return files | own | _rendered(name, TEMPLATES / "flights")


def _rendered(name: str, template: Path) -> dict[str, str]:
    """Return the files of a template, with the name of a project in place of the template's."""
    module = name.replace("-", "_")
    words = {
        "template-project": name,
        "template_project": module,
        "TemplateProject": "".join(word.capitalize() for word in name.split("-")),
        "TIDEMARK_VERSION": version("tidemark-glue"),
    }
    files = {}
    for path in sorted(path for path in template.rglob("*") if path.is_file()):
        if any(part.strip("_").endswith("cache") for part in path.relative_to(template).parts):
            continue  # what tools leave: __pycache__, .ruff_cache
        target = str(path.relative_to(template)).replace("template_project", module)
        text = path.read_text(encoding="utf-8")
        for old, new in words.items():
            text = text.replace(old, new)
        files[target] = text
    return files


def write_project(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a plan into a folder, which is created if it is missing."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} exists already and is not an empty folder; nothing was written; take "
            "another name, or empty it"
        )
    write_files(folder, files)
