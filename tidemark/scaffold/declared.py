"""What the source of a stack declares, as far as its literals show it."""

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Declared:
    """The declarations in the source of a stack.

    Attributes:
        jobs: names of the jobs it adds.
        data: its datasets, each as bucket and prefix: `raw/flights/`.
        iceberg: those of the jobs that write tables of Iceberg.
    """

    jobs: frozenset[str]
    data: frozenset[str]
    iceberg: frozenset[str] = frozenset()

    @classmethod
    def by(cls, source: str) -> "Declared":
        """Return what Python source declares by literals."""
        tree = ast.parse(source)
        tables = {"IcebergTable"}  # and the names of those, and of data that have one
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and tables & _names(node.value):
                tables |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        jobs, data, iceberg = set(), set(), set()
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            match [call.func, *call.args]:
                case [ast.Attribute(attr="add_job"), ast.Constant(value=str(name)), *_]:
                    jobs.add(name)
                    written = [word.value for word in call.keywords if word.arg == "writes"]
                    if any(tables & _names(value) for value in written):
                        iceberg.add(name)
                case [ast.Name(id="Dataset"), ast.Attribute(attr=bucket), ast.Constant(value=key)]:
                    data.add(f"{bucket}/{key!s}")
        return cls(frozenset(jobs), frozenset(data), frozenset(iceberg))


def _names(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
