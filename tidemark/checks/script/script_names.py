"""The meaning of the names of a script: its functions, its Job objects, its imports."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

from tidemark.checks.script.expressions import Scope, module_constants
from tidemark.model.programs import nodes_of


@dataclass(frozen=True)
class ScriptPlace:
    """The lines of a script that one call or statement covers, from 1."""

    line: int
    end_line: int


def place_of(node: ast.expr | ast.stmt | ast.excepthandler) -> ScriptPlace:
    """Return the lines that a call or a statement covers."""
    return ScriptPlace(node.lineno, node.end_lineno or node.lineno)


Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
READERS = {"create_dynamic_frame", "create_data_frame"}
READER_CLASSES = {
    "DynamicFrameReader": "create_dynamic_frame",
    "DataFrameReader": "create_data_frame",
}
# Calls with another value in every run.
VARYING_CALLS = {"now", "utcnow", "today", "time", "strftime", "uuid1", "uuid4", "random"}
BINDING = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Call)
Holds = Callable[[ast.expr], bool]


@dataclass(frozen=True)
class Names:
    """The names of one script; a name counts in the whole file, whatever its scope."""

    functions: Mapping[str, Function]
    methods: Mapping[str, tuple[Function, ...]]
    classes: Mapping[str, ast.ClassDef]
    imports: Mapping[str, str]  # name to its origin, such as awsglue.job.Job
    constants: Scope
    jobs: frozenset[str] = field(default=frozenset())
    instances: frozenset[str] = field(default=frozenset())
    readers: Mapping[str, str] = field(default_factory=dict)  # to create_dynamic_frame, …
    contexts: frozenset[str] = field(default=frozenset())
    of_this_run: frozenset[str] = field(default=frozenset())  # hold another value in every run

    def is_from_aws(self, name: str) -> bool:
        """Return whether a name is imported from a package of AWS Glue or from Spark."""
        return self.imports.get(name, "").split(".")[0] in {"awsglue", "awsgluedq", "pyspark"}

    def makes_a_job(self, value: ast.expr) -> bool:
        """Return whether an expression makes a Job of Glue."""
        return self.class_of(value) == "Job" and "Job" not in self.classes

    def reader(self, value: ast.expr) -> str:
        """Return create_dynamic_frame or create_data_frame if a value is that, else ``""``."""
        name = identifier(value) or ""
        return READER_CLASSES.get(self.class_of(value)) or self.readers.get(name, name)

    def class_of(self, call: ast.expr) -> str:
        """Return the last part of the called name, under its own name: ``Job``."""
        if not isinstance(call, ast.Call):
            return ""
        name = identifier(call.func) or ""
        origin = self.imports.get(name, name) if isinstance(call.func, ast.Name) else name
        return "" if ".blueprint." in origin else origin.rpartition(".")[2]


def identifier(node: ast.AST) -> str | None:
    """Return the name of a variable or of an attribute, None for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


@lru_cache(maxsize=16)
def names_of(tree: ast.Module) -> Names:
    """Return the names of a script."""
    classes = {node.name: node for node in nodes_of(tree) if isinstance(node, ast.ClassDef)}
    methods: dict[str, tuple[Function, ...]] = {}
    for class_ in classes.values():
        for function in class_.body:
            if isinstance(function, FUNCTION):
                methods[function.name] = (*methods.get(function.name, ()), function)
    owned = {function for group in methods.values() for function in group}
    functions = {
        node.name: node
        for node in nodes_of(tree)
        if isinstance(node, FUNCTION) and node not in owned
    }
    plain = Names(functions, methods, classes, _imports(tree), module_constants(tree))
    binding = [node for node in nodes_of(tree) if isinstance(node, BINDING)]

    def holders(is_made: Holds) -> frozenset[str]:
        return _holders(binding, plain, is_made)

    dynamic = holders(lambda value: plain.reader(value) == "create_dynamic_frame")
    data = holders(lambda value: plain.reader(value) == "create_data_frame")
    return replace(
        plain,
        jobs=holders(plain.makes_a_job),
        instances=holders(lambda value: plain.class_of(value) in classes),
        contexts=holders(lambda value: plain.class_of(value) == "GlueContext"),
        of_this_run=holders(is_of_this_run),
        readers=dict.fromkeys(dynamic, "create_dynamic_frame")
        | dict.fromkeys(data, "create_data_frame"),
    )


def is_of_this_run(value: ast.expr) -> bool:
    """Return whether an expression has another value in every run: a time, an id, a random one."""
    for node in ast.walk(value):
        match node:
            case ast.Call(func=function) if identifier(function) in VARYING_CALLS:
                return True
            case ast.Constant(value="JOB_RUN_ID"):
                return True
    return False


def _imports(tree: ast.Module) -> dict[str, str]:
    imports: dict[str, str] = {}
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                imports[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                imports[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
    return imports


def _holders(nodes: Sequence[ast.AST], names: Names, is_made: Holds) -> frozenset[str]:
    """Return the names of variables, attributes and parameters that hold such an object."""
    holders: set[str] = set()

    def holds(value: ast.expr) -> bool:
        results = (value, *returned(value, names))
        return any(is_made(result) or identifier(result) in holders for result in results)

    while True:
        more = {name for node in nodes for name in _held(node, names, holds)}
        if more <= holders:
            return frozenset(holders)
        holders |= more


def _held(node: ast.AST, names: Names, holds: Holds) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _targets(target, value, names, holds)
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            if value is not None:
                yield from _targets(target, value, names, holds)
        case ast.Call():
            given: list[tuple[str, ast.expr]] = []
            for function in called_functions(node, names):
                given += bound_arguments(function, node, names).items()
            if isinstance(node.func, ast.Name) and node.func.id in names.classes:
                # The fields of a dataclass are its keywords.
                given += [(word.arg, word.value) for word in node.keywords if word.arg]
            yield from (name for name, value in given if holds(value))


def _targets(target: ast.expr, value: ast.expr, names: Names, holds: Holds) -> Iterator[str]:
    if isinstance(target, ast.Tuple):
        # The values of its parts stand in a tuple that is written out or returned.
        for whole in (value, *returned(value, names)):
            elements = whole.elts if isinstance(whole, ast.Tuple) else ()
            for part, element in zip(target.elts, elements, strict=False):
                yield from _targets(part, element, names, holds)
    elif holds(value) and (name := identifier(target)):
        yield name


def returned(value: ast.expr, names: Names) -> Iterator[ast.expr]:
    """Yield the return values of the called function, if it is a function of the script."""
    for function in called_functions(value, names) if isinstance(value, ast.Call) else ():
        for node in nodes_of(function):
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value


def called_functions(call: ast.Call, names: Names) -> tuple[Function, ...]:
    """Return the functions of the script that a call may run; several if methods share a name."""
    match call.func:
        case ast.Name(id=name) if name in names.classes:
            body = names.classes[name].body
            return tuple(
                function
                for function in body
                if isinstance(function, FUNCTION) and function.name == "__init__"
            )
        case ast.Name(id=name) if name in names.functions:
            return (names.functions[name],)
        case ast.Attribute(value=owner, attr=name) if _is_instance(owner, names):
            return names.methods.get(name, ())
    return ()


def _is_instance(owner: ast.expr, names: Names) -> bool:
    if isinstance(owner, ast.Call):
        return names.class_of(owner) in {*names.classes, "super"}
    return identifier(owner) in {"self", "cls", *names.instances, *names.classes}


def positional(function: Function) -> list[str]:
    """Return the names of the parameters that a call may give values to by position."""
    return [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]


def parameters(function: Function) -> list[str]:
    """Return the names of the parameters that a call gives values to."""
    return [*positional(function), *(parameter.arg for parameter in function.args.kwonlyargs)]


def defaults_of(function: Function) -> dict[str, ast.expr]:
    """Return the default values of the parameters that have one."""
    arguments = function.args
    every = [*arguments.defaults, *arguments.kw_defaults]
    pairs = zip(parameters(function)[-len(every) :], every, strict=False)
    return {name: default for name, default in pairs if default is not None}


def given_to(parameters: Sequence[str], call: ast.Call) -> dict[str, ast.expr]:
    """Return the argument of a call for each parameter."""
    certain = takewhile(lambda value: not isinstance(value, ast.Starred), call.args)
    given = dict(zip(parameters, certain, strict=False))
    return given | {word.arg: word.value for word in call.keywords if word.arg}


def bound_arguments(function: Function, call: ast.Call, names: Names) -> dict[str, ast.expr]:
    """Return the arguments of a call by the function's parameters, defaults included."""
    by_position = positional(function)
    is_method = any(function in group for group in names.methods.values())
    is_bound = is_method and by_position[:1] in (["self"], ["cls"])
    return defaults_of(function) | given_to(by_position[is_bound:], call)
