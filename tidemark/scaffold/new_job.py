"""Scaffolds a job: its script, its test and its call, from the templates of `new_job/`."""

import ast
import keyword
import re
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.scaffold.declared import Declared
from tidemark.scaffold.magics import NOT_OF_TESTS, settings_of
from tidemark.scaffold.notebook import Notebook
from tidemark.scaffold.notebook_job import left_of, script_of_cells

KINDS = ("bookmark-files", "watermark-jdbc", "merge", "publish")
READS_UPSTREAM = ("merge", "publish")  # these read the output of the first job of --after
CONSTRUCTS = "tidemark.constructs"
CONSTRUCTS_OF_OPTIONS = ("IcebergTable", "JobRuntime", "GlueArguments", "JobOptions")
TEMPLATES = Path(__file__).parent / "templates" / "new_job"
MARKER = "        # tidemark new-job inserts above this line\n"
KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_NAME_LENGTH = 40  # the lines of the templates have room for it
# A script named so would be imported in place of the package.
PACKAGES = {"awsglue", "boto3", "botocore", "pyspark", "py4j", "watermarks"}


def stack_file(pipeline: str) -> str:
    """Return the path of the stack of a pipeline in a project: `infra/<name>_stack.py`."""
    return f"infra/{pipeline.replace('-', '_')}_stack.py"


def kebab_case(text: str) -> str:
    """Return the words of a text as the name of a job.

    Example:
        >>> kebab_case("Daily Orders_v2")
        'daily-orders-v2'
    """
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


@dataclass(frozen=True)
class NewJob:
    """The request.

    Attributes:
        name: the job, in kebab case.
        kind: one of KINDS.
        pipeline: the one it is added to.
        after: jobs it waits for.
        key: columns that identify the rows of a merge.
        iceberg: whether a merge writes a table of Iceberg, instead of files.
        notebook: the one whose cells are its script; None: the templates of its kind are.
    """

    name: str
    kind: str
    pipeline: str
    after: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    iceberg: bool = False
    notebook: Notebook | None = None

    def __post_init__(self) -> None:
        if not KEBAB_CASE.fullmatch(self.name) or len(self.name) > MAX_NAME_LENGTH:
            raise UsageError(
                f"job name {self.name!r} is not in kebab case; allowed: up to {MAX_NAME_LENGTH} "
                "lower case letters and digits in words joined by single hyphens, a letter first; "
                "write it as ingest-orders"
            )
        if self.name in sys.stdlib_module_names | PACKAGES or keyword.iskeyword(self.name):
            raise UsageError(
                f"job name {self.name!r} is that of a Python module, which its script would hide, "
                f"or a word of Python; take another, such as ingest-{self.name}"
            )
        if not KEBAB_CASE.fullmatch(self.pipeline):
            raise UsageError(
                f"--pipeline {self.pipeline!r} is not in kebab case; allowed: lower case letters "
                "and digits in words joined by single hyphens, a letter first, such as orders"
            )
        if self.kind not in KINDS:
            raise UsageError(f"unknown kind {self.kind!r}; allowed: {', '.join(KINDS)}")
        if len(set(self.after)) < len(self.after):
            raise UsageError(f"--after names a job twice: {', '.join(self.after)}; name it once")
        self._check_options()

    def _check_options(self) -> None:
        if self.notebook and (self.kind != KINDS[0] or self.key or self.iceberg):
            raise UsageError(
                f"--kind, --key and --iceberg are not for a job of {self.notebook.name}: its cells "
                "say what it does; leave them out"
            )
        if self.kind in READS_UPSTREAM and len(self.after) > 1:
            raise UsageError(
                f"a job of kind {self.kind} reads the output of one job, and --after names "
                f"{len(self.after)}: {', '.join(self.after)}; name the one to read, and then add "
                f"the others to after= of its call in {self.stack}; how their rows come together, "
                "by union or by join, is for its script to say"
            )
        if self.iceberg and self.kind != "merge":
            text = f"--iceberg is for --kind merge; a job of kind {self.kind} writes files"
            raise UsageError(text)
        if self.key and self.kind != "merge":
            raise UsageError(f"--key is for --kind merge; a job of kind {self.kind} has none")
        if self.kind == "merge" and self.after and not self.key:
            raise UsageError(
                f"a merge of the output of {self.after[0]} needs to know which columns identify "
                "its rows; add --key COLUMN, once for each"
            )
        if wrong := [column for column in self.key if not COLUMN.fullmatch(column)]:
            allowed = "letters, digits and _, no digit first"
            raise UsageError(f"--key {wrong[0]!r} is not a column name; allowed: {allowed}")

    @property
    def module(self) -> str:
        """Return the name of its script, without `.py`, and of its folders of data."""
        return self.name.replace("-", "_")

    @property
    def template(self) -> str:
        """Return the folder of its templates."""
        if self.notebook:
            return "notebook"
        return f"{self.kind.replace('-', '_')}{'_iceberg' if self.iceberg else ''}"

    @property
    def script(self) -> str:
        """Return the path of its script in the project."""
        return f"glue_jobs/{self.module}.py"

    @property
    def stack(self) -> str:
        """Return the path of the stack of its pipeline in the project."""
        return stack_file(self.pipeline)

    @property
    def test(self) -> str:
        """Return the path of the test of its script in the project."""
        return f"tests/glue_jobs/test_{self.module}.py"


def script_of(job: NewJob) -> str:
    """Return the source of its script."""
    if job.notebook:
        return script_of_cells(job.name, job.notebook)
    key = ", ".join(f'"{column}"' for column in job.key) + "," * (len(job.key) == 1)
    text = _template(job, "job.py")
    return text.replace('KEY = ("id",)', f"KEY = ({key})") if key else text


def unit_test_of(job: NewJob) -> str:
    """Return the source of its test."""
    text = _template(job, "test_job.py")
    if job.notebook:
        given = settings_of(job.notebook.magics).arguments
        of_test = {name: value for name, value in given.items() if name not in NOT_OF_TESTS}
        text = text.replace("Any] = {}", f"Any] = {of_test!r}")
    return text


def call_of(job: NewJob) -> str:
    """Return the lines that add the job to the pipeline, indented as the body of a function."""
    text = _template(job, "stack.py")
    (function,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    docstring = function.body[0]
    body = "".join(text.splitlines(keepends=True)[docstring.end_lineno :])
    upstream = [f'self.pipeline.jobs["{name}"]' for name in job.after]
    after = f"        after=[{', '.join(upstream)}],\n" if upstream else ""
    body = body.replace("        after=upstream,\n", after)
    if job.notebook:
        keywords = settings_of(job.notebook.magics).keywords()
        lines = "".join(f"        {name}={value},\n" for name, value in keywords.items())
        body = body.replace("    )\n", f"{lines}    )\n")
    if upstream and job.kind in READS_UPSTREAM:
        body = re.sub(r"_source = Dataset\(.*\)\n", f"_source = {upstream[0]}.output\n", body)
    return body


def stack_with(job: NewJob, stack: str, others: Mapping[str, str] | None = None) -> str:
    """Return the source of the stack with the call of the job in its place."""
    known = {path: _declared(path, text) for path, text in (others or {}).items()}
    known[job.stack] = own = _declared(job.stack, stack)
    for path, declared in known.items():
        if job.name in declared.jobs:
            raise UsageError(f"{path} has a job '{job.name}' already; take another name")
    _check_upstream(job, own)
    if stack.count(MARKER) != 1:
        raise UsageError(
            f"{job.stack} has the line {MARKER.strip()!r} {stack.count(MARKER)} times, so it is "
            "not known where the job goes; write it once, at the end of __init__"
        )
    call = call_of(job)
    data = Declared.by(textwrap.dedent(call)).data
    for path, declared in known.items():
        if taken := sorted(declared.data & data):
            raise UsageError(
                f"the data {taken[0]} of the new job is that of another job of {path} already; "
                "take another name"
            )
    for name in CONSTRUCTS_OF_OPTIONS:
        if f"{name}(" in call:
            stack = _importing(stack, name)
    indented = textwrap.indent(call, "    ", lambda line: bool(line.strip()))
    return stack.replace(MARKER, indented + MARKER)


def _check_upstream(job: NewJob, own: Declared) -> None:
    """Raise unless the jobs that it waits for are there, and write what it reads."""
    if unknown := [name for name in job.after if name not in own.jobs]:
        raise UsageError(
            f"--after {unknown[0]}: {job.stack} does not declare this job; allowed: "
            f"{', '.join(sorted(own.jobs)) or 'none yet'}"
        )
    if job.kind in READS_UPSTREAM and (iceberg := own.iceberg & set(job.after)):
        raise UsageError(
            f"--after {min(iceberg)}: it writes a table of Iceberg, and a job of kind {job.kind} "
            "reads files, those of old snapshots too; write a job that reads it with spark.table: "
            "docs/iceberg.md"
        )


def _importing(stack: str, name: str) -> str:
    for node in ast.parse(stack).body:
        if isinstance(node, ast.ImportFrom) and node.module == CONSTRUCTS:
            names = {alias.name for alias in node.names} | {name}
            lines = stack.splitlines(keepends=True)
            ordered = sorted(names, key=lambda entry: (entry[0].islower(), entry))
            made = f"from {CONSTRUCTS} import {', '.join(ordered)}\n"
            return "".join([*lines[: node.lineno - 1], made, *lines[node.end_lineno :]])
    return f"from {CONSTRUCTS} import {name}\n{stack}"


def _declared(path: str, source: str) -> Declared:
    try:
        return Declared.by(source)
    except SyntaxError as error:
        raise UsageError(f"{path} is not Python: {error}; correct it first") from error


def _template(job: NewJob, file: str) -> str:
    text = (TEMPLATES / job.template / file).read_text(encoding="utf-8")
    return text.replace("template-job", job.name).replace("template_job", job.module)


ROW = '{"id": 1, "status": "open", "updated_at": "2013-01-01T10:00:00Z"}'


def commands(
    job: NewJob, lake: Path, source: str | None, *, is_only_pipeline: bool = True
) -> list[str]:
    """Return the shell commands that test the job and run it on this machine."""
    test = f"pytest {job.test}"
    if job.notebook:
        return [test, f"tidemark run --only {job.name}"]
    run_it = "tidemark run" if is_only_pipeline else f"tidemark run --workflow {job.pipeline}"
    if job.kind == "watermark-jdbc":
        return [test, run_it, "tidemark status"]
    run = [run_it, f"tidemark explain {job.name}"]
    if job.iceberg:
        return ["pip install 'tidemark-glue[iceberg]'", test, *run]
    if job.kind != "bookmark-files" or source is None:
        return [test, *run]
    folder = lake / source.removeprefix("s3://").removesuffix("/")
    return [test, f"mkdir -p {folder}", f"echo '{ROW}' > {folder}/1.json", *run]


def changes(job: NewJob) -> str:
    """Return what to make of the job next, as one sentence."""
    if job.notebook:
        return left_of(job.notebook, script_of(job), job.stack)
    source = f"what {job.after[0]} writes" if job.after else "Parquet files that others deliver"
    return {
        "bookmark-files": f"Your columns are COLUMNS in {job.script}.",
        "watermark-jdbc": (
            f"It reads two rows of an embedded database: put your address and table into "
            f"its arguments in {job.stack}, and its cursor column into {job.script}."
        ),
        "merge": f"It reads {source}: its columns are KEY and VERSION in {job.script}.",
        "publish": f"It reads {source} and counts rows: what you publish is `published` in "
        f"{job.script}.",
    }[job.kind]
