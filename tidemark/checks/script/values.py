"""Evaluates expressions of scripts as strings, without running anything.

Names are followed where their value is certain: constants, names and attributes that are
assigned once, loops over lists that are written out, and the arguments of the script's calls of its
own functions. An argument of a run stands as ``{--name}``, a value that only a run knows as ``<its
expression>``, or in other marks, with its known parts filled in.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from tidemark.checks.script.expressions import attributes, bound_once, changed_names, written
from tidemark.checks.script.script_names import (
    FUNCTION,
    Function,
    defaults_of,
    given_to,
    identifier,
    parameters,
    positional,
)
from tidemark.errors import UsageError
from tidemark.model.programs import nodes_of, program_of

DEEPEST = 5  # calls and names through which a value is followed
MAX_WAYS = 1_000  # to a function; beyond that names have too many values
Loop: TypeAlias = ast.For | ast.AsyncFor | ast.comprehension
Bound: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Enclosing:
    """A place in a script: its functions and loops, the innermost last."""

    functions: tuple[Function, ...] = ()
    loops: tuple[Loop, ...] = ()


class ScriptValues:
    """The calls of a script, and the values of its names."""

    def __init__(self, module: ast.Module, marks: tuple[str, str] = ("<", ">")) -> None:
        self._marks = marks  # around an expression that only a run can evaluate
        changed = changed_names(module)
        self.calls = list(_calls(module))
        self._constants = bound_once(module.body, changed)
        self._locals = {
            function: bound_once(function.body, changed_names(function))
            for function in nodes_of(module)
            if isinstance(function, FUNCTION)
        }
        self._attributes = {
            name: values[0]
            for name, values in attributes(module).items()
            if len(values) == 1 and values[0] is not None and name not in changed
        }
        self._functions_of = {
            node: function for function in self._locals for node in nodes_of(function)
        }
        self._called_as = {
            function: class_.name
            for class_ in nodes_of(module)
            if isinstance(class_, ast.ClassDef)
            for function in class_.body
            if isinstance(function, FUNCTION) and function.name == "__init__"
        }

    def bindings(self, place: Enclosing, depth: int = 0) -> Iterator[Bound]:
        """Yield the values of parameters and loop variables, once for each way to a place."""
        for bound in islice(self._parameters(place.functions, depth), MAX_WAYS):
            yield from self._looped(place, place.loops, bound)

    def _looped(self, place: Enclosing, loops: Sequence[Loop], bound: Bound) -> Iterator[Bound]:
        if not loops:
            yield bound
            return
        items = self.read(loops[0].iter, place, bound)
        each = items if isinstance(items, list) and items else [None]
        for item in each:
            values = {} if item is None else dict(_unpacked(loops[0].target, item))
            yield from self._looped(place, loops[1:], {**bound, **values})

    def _parameters(self, functions: tuple[Function, ...], depth: int) -> Iterator[Bound]:
        if not functions:
            yield {}
            return
        function = functions[-1]
        name = self._called_as.get(function, function.name)
        calls = [
            (call, place)
            for call, place in self.calls
            if function not in place.functions and identifier(call.func) == name
        ]
        if not calls or depth >= DEEPEST:
            yield {}
            return
        names, defaults = positional(function), defaults_of(function).items()
        for call, place in calls:
            given = given_to(names[names[:1] == ["self"] :], call)
            for bound in self.bindings(place, depth + 1):
                values = {name: self.read(node, Enclosing(), {}) for name, node in defaults}
                values |= {name: self.read(node, place, bound) for name, node in given.items()}
                rebound = self._locals[function].keys()
                own = {name: value for name, value in values.items() if name not in rebound}
                yield {**bound, **own} if place.functions == functions[:-1] else own

    def read(self, node: ast.expr, place: Enclosing, bound: Bound, depth: int = 0) -> Any:
        """Return a value: string, list or dict of values; ``<code>`` if it is not certain."""
        known = self._known(node, place, bound, depth)
        if known is not None:
            return known
        filled = _Filled(lambda part: self._known(part, place, bound, depth + 1))
        return ast.unparse(filled.visit(deepcopy(node))).join(self._marks)

    def _known(self, node: ast.expr, place: Enclosing, bound: Bound, depth: int) -> Any:
        """Return a value, None if it is not certain."""
        match node:
            case ast.Name(id=name):
                return self._name(name, place, bound, depth)
            case ast.Attribute(attr=name) if name in self._attributes and depth < DEEPEST:
                value = self._attributes[name]
                function = self._functions_of.get(value)
                inside = Enclosing((function,) if function else ())
                calls = self.bindings(inside, depth + 1)
                each = [self.read(value, inside, call, depth + 1) for call in calls]
                texts = sorted(set(map(str, each)))  # of several objects, the values in them
                if any(self._marks[0] in text for text in texts):
                    return None
                several = f"{ast.unparse(node)}: {', '.join(texts)}"
                return each[0] if len(texts) == 1 else several.join(self._marks)
            case (
                ast.Subscript(value=owner, slice=ast.Constant(value=key))
                | ast.Call(
                    func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(value=key)]
                )
            ):
                return _part(self._known(owner, place, bound, depth), key)
        return written(node, lambda inner: self.read(inner, place, bound, depth))

    def _name(self, name: str, place: Enclosing, bound: Bound, depth: int) -> Any:
        if name in bound:
            return bound[name]
        if depth >= DEEPEST:
            return None
        for number in range(len(place.functions), 0, -1):
            names = self._locals[place.functions[number - 1]]
            if name in names:
                value, inside = names[name], Enclosing(place.functions[:number])
                return self.read(value, inside, bound, depth + 1) if value else None
            if name in parameters(place.functions[number - 1]):
                return None
        value = self._constants.get(name)
        return self.read(value, Enclosing(), {}, depth + 1) if value else None


class _Filled(ast.NodeTransformer):
    """Replaces the names in an expression by their known values."""

    def __init__(self, known: Callable[[ast.expr], Any]) -> None:
        self._known = known

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            value = self._known(node)
            if isinstance(value, str) and is_certain(value):
                return ast.Constant(value)
        return self.generic_visit(node)


def is_certain(value: Any) -> bool:
    """Return whether a value is known apart from arguments of a run."""
    return not set("<\0") & set(str(value))


def parsed(text: str, job: str) -> ast.Module:
    """Return the program that the script of a job is."""
    try:
        return program_of(text)
    except (SyntaxError, ValueError) as error:
        raise not_python(job, error) from error


def not_python(job: str, error: Exception) -> UsageError:
    """Return the error for a script that does not parse."""
    return UsageError(f"the script of job {job} is not Python: {error}; fix it")


def with_arguments(text: str, arguments: Mapping[str, Any]) -> str:
    """Return a string with the values that the template gives to the job's arguments."""
    return re.sub(r"\{(--[^}]+)\}", lambda match: str(arguments.get(match[1], match[0])), text)


def _part(owner: Any, key: object) -> Any:
    """Return the value of a key; if the dict is not known, the argument of that name."""
    if isinstance(owner, dict):
        return owner.get(str(key))
    if isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner):
        return owner[key]
    return f"{{--{key}}}" if isinstance(key, str) else None


def _unpacked(target: ast.expr, item: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names of a loop with the values of one round."""
    if isinstance(target, ast.Name):
        yield target.id, item
    elif isinstance(target, ast.Tuple) and isinstance(item, list):
        for part, value in zip(target.elts, item, strict=False):
            yield from _unpacked(part, value)


def _calls(module: ast.Module) -> Iterator[tuple[ast.Call, Enclosing]]:
    """Yield every call of a script, with the functions and loops around it."""
    left: list[tuple[ast.AST, Enclosing]] = [(module, Enclosing())]
    while left:
        node, place = left.pop()
        if isinstance(node, ast.Call):
            yield node, place
        if isinstance(node, FUNCTION):
            place = Enclosing((*place.functions, node))
        elif isinstance(node, ast.For | ast.AsyncFor):
            place = Enclosing(place.functions, (*place.loops, node))
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            place = Enclosing(place.functions, (*place.loops, *node.generators))
        left += [(child, place) for child in ast.iter_child_nodes(node)]
