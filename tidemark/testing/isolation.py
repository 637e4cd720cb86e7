"""Decides from a script and its arguments whether its run needs its own process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from tidemark.glue_service.runs.arguments import EXECUTOR_VARIABLES, MODULES

# Names whose call or import outlives the run in a shared process or JVM.
CALLS = {
    **dict.fromkeys(("_exit", "abort", "fork", "forkpty", "killpg", "setsid"), "it calls os.{}"),
    **dict.fromkeys(
        ("addFile", "addPyFile", "addArchive", "addJar"),
        "it calls {}, which Spark never takes back",
    ),
    "setCheckpointDir": "it calls {}, which Spark never takes back",
    "enableHiveSupport": "it calls {}, which Spark takes only as it starts",
    **dict.fromkeys(("awaitTermination", "forEachBatch"), "it calls {}, which may not end"),
    "setrlimit": "it calls {}, which holds for the process",
}
IMPORTS = ("multiprocessing", "ctypes", "faulthandler", "resource")
ARGUMENTS = ("--extra-jars", "--user-jars-first", "--datalake-formats", MODULES, EXECUTOR_VARIABLES)


def isolation_by_script(source: bytes) -> str | None:
    """Return why a script needs its own process; None without a known reason."""
    for node in _nodes(source):
        for name in _called(node):
            if name in CALLS:
                return CALLS[name].format(name)
        for name in _imported(node):
            if name in IMPORTS:
                return f"it imports {name}"
    return None


def isolation_by_arguments(arguments: Mapping[str, str]) -> str | None:
    """Return why a run with these arguments needs its own process; None if it does not."""
    return next((f"it has {name}" for name in ARGUMENTS if arguments.get(name)), None)


def imports_of(source: bytes) -> set[str]:
    """Return the packages that a script imports, by the first part of their names."""
    return {name for node in _nodes(source) for name in _imported(node)}


def buckets_of(source: bytes) -> set[str]:
    """Return the buckets that strings of a script name: ``s3://bucket/…``."""
    constants = (node.value for node in _nodes(source) if isinstance(node, ast.Constant))
    return {name for value in constants if isinstance(value, str) for name in buckets_in(value)}


def buckets_in(text: str) -> Iterator[str]:
    """Yield the buckets in the S3 addresses of a string."""
    for scheme in ("s3://", "s3a://", "s3n://"):
        for part in text.split(scheme)[1:]:
            name = part.split("/")[0].split(",")[0].strip("\"' ")
            if name and name == name.lower() and not set(name) - set(_BUCKET_CHARACTERS):
                yield name


_BUCKET_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.-"


def _nodes(source: bytes) -> Iterable[ast.AST]:
    try:
        return ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return ()  # its run reports it


def _called(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.name for alias in node.names)


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module.partition(".")[0]
