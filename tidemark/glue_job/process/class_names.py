"""Lets Py4J ask a JVM once for each class and static method.

To find ``jvm.org.apache.spark.SparkConf`` a JVM searches all its jars for a class ``org``, then for
``org.apache`` and so on, which takes a millisecond; PySpark asks for one at every ``col("x")``.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

PARENT = "_tidemark_parent"
IS_CHANGED = "_tidemark_remembers"


def remember_class_names(module: ModuleType) -> None:
    """Let views of a JVM keep the classes that were found by name, and the packages of those.

    Nothing is remembered that was not found: a jar may come later. A package of a class can never
    be a class. What an import makes of short names is asked again.
    """
    if hasattr(module, IS_CHANGED):
        return
    setattr(module, IS_CHANGED, True)
    view, package, class_, member = (
        module.JVMView,
        module.JavaPackage,
        module.JavaClass,
        module.JavaMember,
    )
    for kind, kept in ((view, class_), (package, class_), (class_, (class_, member))):
        kind.__getattr__ = _remembering(kind.__getattr__, package, kept)
    add_import = module.java_import

    def java_import(jvm_view: Any, import_str: str) -> None:
        add_import(jvm_view, import_str)
        for name, value in list(vars(jvm_view).items()):
            if isinstance(value, class_):
                delattr(jvm_view, name)

    for other in [module, *sys.modules.values()]:
        if getattr(other, "__dict__", {}).get("java_import") is add_import:
            other.java_import = java_import  # type: ignore[attr-defined]


def _remembering(look_up: Callable[[Any, str], Any], package: type, kept: Any) -> Any:
    def find(self: Any, name: str) -> Any:
        """Return what Python calls this for: a name that is not an attribute yet."""
        found = look_up(self, name)
        if isinstance(found, package):
            vars(found)[PARENT] = (self, name)
        elif isinstance(found, kept):
            vars(self)[name] = found
            place = self
            while PARENT in vars(place):
                parent, own_name = vars(place)[PARENT]
                vars(parent)[own_name] = place
                place = parent
        return found

    return find
