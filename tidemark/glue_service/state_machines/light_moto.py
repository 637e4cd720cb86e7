"""Imports moto's interpreter without the services of moto that it does not use here.

moto's package of Step Functions imports its models of Batch, ECS, EC2, Logs and S3, which takes
four times as long as the interpreter.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import moto

F = TypeVar("F", bound=Callable[..., Any])
UNUSED = ("moto.batch", "moto.batch.utils", "moto.logs", "moto.logs.models")
PACKAGE = "moto.stepfunctions"


class _AnyMember(type):
    def __getattr__(cls, name: str) -> str:
        return name


class _Absent(ModuleType):
    """A module that has every name, with every member."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AnyMember(name, (), {})


def _of_models(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module(f"{PACKAGE}.models"), name)


def _import_interpreter() -> None:
    if PACKAGE not in sys.modules:
        # The package without its own file: whoever asks for its models gets them then.
        package = sys.modules[PACKAGE] = ModuleType(PACKAGE)
        package.__path__ = [f"{path}/stepfunctions" for path in moto.__path__]
        vars(package)["__getattr__"] = _of_models
    absent = {name: _Absent(name) for name in UNUSED if name not in sys.modules}
    sys.modules.update(absent)
    try:
        import_module(f"{PACKAGE}.parser.asl.parse.asl_parser")
    finally:
        for name in absent:
            del sys.modules[name]


_import_interpreter()


def part(name: str) -> Any:
    """Return a module of the interpreter, by its name in the package `asl`."""
    return import_module(f"{PACKAGE}.parser.asl.{name}")


def instead_of(module: str, member: str) -> Callable[[F], F]:
    """Have a method of moto replaced by a function, which gets the method before its arguments.

    Args:
        module: the name of the module in the package `asl`.
        member: class and method, such as `Wait._eval_body`.
    """
    class_name, _, name = member.partition(".")
    owner = getattr(part(module), class_name)
    moto_method = getattr(owner, name)

    def replace(function: F) -> F:
        def method(*arguments: Any, **named: Any) -> Any:
            return function(moto_method, *arguments, **named)

        setattr(owner, name, method)
        return function

    return replace


def replace_function(name: str, function: Callable[..., Any], within: str = "") -> None:
    """Replace a function in the modules of the interpreter that have imported it."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(PACKAGE) and within in module_name and hasattr(module, name):
            setattr(module, name, function)
