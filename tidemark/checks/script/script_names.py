"""The meaning of the names of a script: its functions, its Job objects, its imports."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tidemark.checks.script.expressions import Scope, module_constants


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
IsMade = Callable[[ast.expr], bool]


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


def names_of(tree: ast.Module) -> Names:
    """Return the names of a script."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    methods: dict[str, tuple[Function, ...]] = {}
    for class_ in classes.values():
        for function in class_.body:
            if isinstance(function, FUNCTION):
                methods[function.name] = (*methods.get(function.name, ()), function)
    owned = {function for group in methods.values() for function in group}
    functions = {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, FUNCTION) and node not in owned
    }
    plain = Names(functions, methods, classes, _imports(tree), module_constants(tree))
    binding = [node for node in ast.walk(tree) if isinstance(node, BINDING)]

    def holders(is_made: IsMade) -> frozenset[str]:
        return _holders(binding, plain, is_made)

    dynamic_frames = holders(lambda value: plain.reader(value) == "create_dynamic_frame")
    data_frames = holders(lambda value: plain.reader(value) == "create_data_frame")
    return replace(
        plain,
        jobs=holders(plain.makes_a_job),
        instances=holders(lambda value: plain.class_of(value) in classes),
        contexts=holders(lambda value: plain.class_of(value) == "GlueContext"),
        of_this_run=holders(is_of_this_run),
        readers={
            **dict.fromkeys(dynamic_frames, "create_dynamic_frame"),
            **dict.fromkeys(data_frames, "create_data_frame"),
        },
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports[alias.asname or alias.name.partition(".")[0]] = alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                imports[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
    return imports


def _holders(nodes: Sequence[ast.AST], names: Names, is_made: IsMade) -> frozenset[str]:
    """Return the names of variables, attributes and parameters that hold such an object."""
    holders: set[str] = set()
    while True:
        more = {name for node in nodes for name in _held(node, names, is_made, holders)}
        if more <= holders:
            return frozenset(holders)
        holders |= more


def _held(node: ast.AST, names: Names, is_made: IsMade, known: set[str]) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _targets(target, value, names, is_made, known)
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            if value is not None:
                yield from _targets(target, value, names, is_made, known)
        case ast.Call():
            yield from _parameters(node, names, is_made, known)


def _targets(
    target: ast.expr, value: ast.expr, names: Names, is_made: IsMade, known: set[str]
) -> Iterator[str]:
    if isinstance(target, ast.Tuple):
        for number, part in enumerate(target.elts):
            for element in _elements(value, number, names):
                yield from _targets(part, element, names, is_made, known)
    elif _holds(value, names, is_made, known) and (name := identifier(target)):
        yield name


def _elements(value: ast.expr, number: int, names: Names) -> Iterator[ast.expr]:
    """Yield the values of a part of a tuple that is written out or returned."""
    for whole in (value, *returned(value, names)):
        if isinstance(whole, ast.Tuple) and number < len(whole.elts):
            yield whole.elts[number]


def returned(value: ast.expr, names: Names) -> Iterator[ast.expr]:
    """Yield the return values of the called function, if it is a function of the script."""
    for function in called_functions(value, names) if isinstance(value, ast.Call) else ():
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value


def _holds(value: ast.expr, names: Names, is_made: IsMade, known: set[str]) -> bool:
    return (
        is_made(value)
        or identifier(value) in known
        or any(is_made(result) or identifier(result) in known for result in returned(value, names))
    )


def _parameters(call: ast.Call, names: Names, is_made: IsMade, known: set[str]) -> Iterator[str]:
    """Yield the parameters of the script's functions that a call gives such a value to."""
    if isinstance(call.func, ast.Name) and call.func.id in names.classes:  # as a dataclass has it
        for keyword in call.keywords:
            if keyword.arg and _holds(keyword.value, names, is_made, known):
                yield keyword.arg
    for function in called_functions(call, names):
        for parameter, value in bound_arguments(function, call, names).items():
            if _holds(value, names, is_made, known):
                yield parameter


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


def parameters(function: Function) -> list[str]:
    """Return the names of the parameters that a call gives values to."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [parameter.arg for parameter in every]


def bound_arguments(function: Function, call: ast.Call, names: Names) -> dict[str, ast.expr]:
    """Return the arguments of a call by the function's parameters, defaults included."""
    by_position = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    defaults = function.args.defaults
    bound = dict(zip(by_position[len(by_position) - len(defaults) :], defaults, strict=True))
    for parameter, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if default is not None:
            bound[parameter.arg] = default
    is_method = any(function in group for group in names.methods.values())
    is_bound = is_method and by_position[:1] in (["self"], ["cls"])
    for name, value in zip(by_position[is_bound:], call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        bound[name] = value
    bound |= {item.arg: item.value for item in call.keywords if item.arg}
    return bound
