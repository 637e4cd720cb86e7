"""Changes a module of another package as soon as a script imports it: PySpark and Py4J.

To find ``jvm.org.apache.spark.SparkConf`` a JVM searches all its jars for a class ``org``, then for
``org.apache`` and so on, a millisecond each time; PySpark does so at every ``col("x")``.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import logging
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partialmethod
from types import ModuleType
from typing import Any

LAUNCHER = "pyspark.java_gateway"
ACCUMULATORS = "pyspark.accumulators"
PY4J = "py4j.java_gateway"


class AfterImport(importlib.abc.MetaPathFinder):
    """Changes one module right after its import."""

    def __init__(self, name: str, change: Callable[[ModuleType], None]) -> None:
        """Prepare; works once it is in ``sys.meta_path``."""
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
            if module.__name__ == fullname:  # modules of one zip have one loader
                self._change(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def after_import(name: str, change: Callable[[ModuleType], None]) -> None:
    """Change a module now if it is imported, else as soon as it is.

    Modules that took a changed name from it before get the new one too.
    """
    module = sys.modules.get(name)
    if module is None:
        sys.meta_path.insert(0, AfterImport(name, change))
        return
    before = dict(vars(module))
    change(module)
    for key, old in before.items():
        if (new := vars(module).get(key)) is not old:
            for importer in list(sys.modules.values()):
                if getattr(importer, "__dict__", {}).get(key) is old:
                    setattr(importer, key, new)


LOOK_S = 0.02
ACCUMULATOR_SERVERS = {"AccumulatorServer", "AccumulatorTCPServer", "AccumulatorUnixServer"}


def stop_accumulators_soon(module: ModuleType) -> None:
    """Let the server of accumulators see at once that Spark stops: it looks twice a second."""
    for name in ACCUMULATOR_SERVERS & vars(module).keys():
        server = vars(module)[name]
        server.serve_forever = partialmethod(server.serve_forever, LOOK_S)


CLIENT_SERVER = "py4j.clientserver"
FREEING = threading.Lock()  # an object of a JVM is being freed, by the thread of Py4J for that


def free_alone(module: ModuleType) -> None:
    """Let the end of Spark wait for the freeing of an object: see `free_no_more`."""
    free = module.JavaClient.garbage_collect_object

    def garbage_collect_object(self: Any, target_id: str, enqueue: bool = True) -> None:
        with nullcontext() if enqueue else FREEING:
            free(self, target_id, enqueue)

    module.JavaClient.garbage_collect_object = garbage_collect_object


def free_no_more(gateway: Any) -> None:
    """Free no more objects of a JVM that is about to end: Py4J would log that it is gone."""
    with FREEING:
        gateway._gateway_client.is_connected = False


PARENT = "_tidemark_parent"
IS_CHANGED = "_tidemark_remembers"


def remember_class_names(module: ModuleType) -> None:
    """Make views of a JVM remember the classes they found by name, and their packages.

    Misses are not remembered: a jar may come later. A package of a class can never
    be a class. Short names are looked up again after an import.
    """
    if hasattr(module, IS_CHANGED):
        return
    setattr(module, IS_CHANGED, True)
    names = ("JVMView", "JavaPackage", "JavaClass", "JavaMember")
    view, package, class_, member = (vars(module)[name] for name in names)
    for kind, remembered in ((view, class_), (package, class_), (class_, (class_, member))):
        kind.__getattr__ = _remembering(kind.__getattr__, package, remembered)
    add_import = module.java_import

    def java_import(jvm_view: Any, import_str: str) -> None:
        add_import(jvm_view, import_str)
        for name, value in list(vars(jvm_view).items()):
            if isinstance(value, class_):
                delattr(jvm_view, name)

    for importer in [module, *sys.modules.values()]:
        if getattr(importer, "__dict__", {}).get("java_import") is add_import:
            importer.java_import = java_import  # type: ignore[attr-defined]


def _remembering(look_up: Callable[[Any, str], Any], package: type, remembered: Any) -> Any:
    def get_attribute(self: Any, name: str) -> Any:  # Python asks for what is no attribute yet
        value = look_up(self, name)
        if isinstance(value, package):
            vars(value)[PARENT] = (self, name)
        elif isinstance(value, remembered):
            vars(self)[name] = value
            owner = self
            while PARENT in vars(owner):
                parent, own_name = vars(owner)[PARENT]
                vars(parent)[own_name] = owner
                owner = parent
        return value

    return get_attribute


def log_without_setup() -> None:
    """Make Py4J log by the root logger of this process without configuring it.

    It calls ``logging.info`` and ``logging.exception``, which add a handler to a root logger that
    has none. A later ``logging.basicConfig`` of a script would then change nothing, even if the JVM
    that failed belongs to another run.
    """
    from py4j import java_gateway

    vars(java_gateway)["logging"] = logging.getLogger()
