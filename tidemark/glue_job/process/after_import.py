"""Changes a module of another package as soon as a script imports it."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

LAUNCHER = "pyspark.java_gateway"
PY4J = "py4j.java_gateway"


class AfterImport(importlib.abc.MetaPathFinder):
    """Changes one module right after it was imported."""

    def __init__(self, name: str, change: Callable[[ModuleType], None]) -> None:
        """Prepare; ``sys.meta_path`` makes it work."""
        self._name = name
        self._change = change

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the module's own spec, which changes the module too; None for other modules."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            self._change(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec
