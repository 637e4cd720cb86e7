"""Where the calls of a script stand: what certainly runs before and after each of them.

Certain is what no condition around it leaves out that does not leave out the other, too. Nothing is
followed further: what depends on values, or on more than one jump, is for `tidemark prove` to see.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeGuard

from tidemark.checks.script.expressions import Scope, Value, literal, local_constants
from tidemark.checks.script.reaching import Places, Position
from tidemark.checks.script.script_names import (
    Function,
    Names,
    bound_arguments,
    called_functions,
    identifier,
    parameters,
)
from tidemark.model.programs import program_of

BROAD = {"Exception", "BaseException"}
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LOOPS = ast.For | ast.AsyncFor | ast.While | COMPREHENSIONS
LEAVES = (ast.Break, ast.Continue, ast.Raise, ast.Return)
# Calls that run the function they are given any number of times: of Python, and of its pools.
MAPPING = {"filter", "imap", "imap_unordered", "map", "map_async", "reduce"}
MAPPING |= {"starmap", "starmap_async"}
MAX_WAYS = 200  # to one call; beyond that a script is followed no further
DEEPEST = 8  # functions that call each other


@dataclass(frozen=True)
class Way:
    """One way to a call.

    Attributes:
        scope: the values of names there.
        sites: the call, and the calls that lead to it, the innermost first.
        repeating: the loops and mapping calls around them.
    """

    scope: Scope
    sites: tuple[ast.expr | ast.stmt, ...]
    repeating: tuple[ast.AST, ...] = ()


class Layout(Places):
    """The calls of one script, with the conditions around them."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        super().__init__(tree)
        self._names = names
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self._sites: dict[Function, list[ast.Call]] = {}
        self._entries: dict[tuple[Function, int], list[Way]] = {}
        for call in self.calls:
            values = [*call.args, *(word.value for word in call.keywords)]
            named = [value.id for value in values if isinstance(value, ast.Name)]
            handed = [names.functions[name] for name in named if name in names.functions]
            for function in (*called_functions(call, names), *handed):
                self._sites.setdefault(function, []).append(call)

    def ways(self, node: ast.expr | ast.stmt, depth: int = 0) -> list[Way]:
        """Return the ways to a node; none if nothing visible calls its function."""
        function, repeating = self.function_of(node), tuple(self._repeating(node))
        if function is None:
            return [Way(self._names.constants, (node,), repeating)]
        # What names are worth in a function is the same at each of its nodes.
        if (function, depth) not in self._entries:
            self._entries[function, depth] = list(islice(self._enter(function, depth), MAX_WAYS))
        return [
            Way(way.scope, (node, *way.sites), (*repeating, *way.repeating))
            for way in self._entries[function, depth]
        ]

    def _enter(self, function: Function, depth: int) -> Iterator[Way]:
        """Yield the ways into a function."""
        for site in self._sites.get(function, ()) if depth < DEEPEST else ():
            mapping = (site,) if identifier(site.func) in MAPPING else ()
            for way in self.ways(site, depth + 1):
                scope = self._inside(function, site, way.scope)
                yield Way(scope, way.sites, (*mapping, *way.repeating))

    def _inside(self, function: Function, site: ast.Call, around: Scope) -> Scope:
        """Return what names are worth in a function that a call runs."""
        given: dict[str, Value] = dict.fromkeys(parameters(function))
        if function in called_functions(site, self._names):
            bound = bound_arguments(function, site, self._names)
            given |= {name: literal(value, around) for name, value in bound.items()}
        # Only a function within a function sees the names of the one around it.
        outer = around if self.function_of(function) else self._names.constants
        own = local_constants(function, {**outer, **given})
        # A parameter that is bound again may hold either value.
        return {**outer, **given, **own, **dict.fromkeys(given.keys() & own.keys())}

    def _repeating(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the loops in which a node runs again, not those that it only feeds."""
        fed: ast.AST | None = None
        for parent in self.around(node):
            # What a loop goes through, or a comprehension first, is evaluated before it begins.
            source = getattr(getattr(parent, "generators", [parent])[0], "iter", None)
            if isinstance(parent, LOOPS) and (fed is None or fed is not source):
                yield parent
            fed = node if getattr(parent, "iter", None) is node else fed
            node = parent

    def leaders(self, calls: Iterable[ast.Call], *, is_certain: bool = False) -> list[ast.Call]:
        """Return some calls, and those of functions of the script that (certainly) lead to them."""
        leading = dict.fromkeys(calls)
        left = list(leading)
        while left:
            call = left.pop()
            function = self.function_of(call)
            # A helper that commits under a condition is no commit of its callers.
            if function and not (is_certain and self.conditions(call)):
                sites = [site for site in self._sites.get(function, ()) if site not in leading]
                leading |= dict.fromkeys(sites)
                left += sites
        return list(leading)

    def conditions(self, node: ast.AST) -> dict[ast.AST, str]:
        """Return what may leave a node out, in its function, each with its branch."""
        return {at: arm for at, arm in self.branches(node).items() if not _is_always(at, arm)}

    def precedes(self, node: ast.expr | ast.stmt, other: ast.expr | ast.stmt) -> bool:
        """Return whether a node certainly runs before another one of its function."""
        return position(node) < position(other) and self._covers(node, other)

    def follows(self, node: ast.expr | ast.stmt, other: ast.expr | ast.stmt) -> bool:
        """Return whether a node certainly runs after another one, or the run fails."""
        return position(node) > position(other) and self._covers(node, other)

    def _covers(self, node: ast.AST, other: ast.AST) -> bool:
        same = self.function_of(node) is self.function_of(other)
        return same and self.conditions(node).items() <= self.conditions(other).items()

    def may_precede(self, node: ast.expr | ast.stmt, other: ast.expr | ast.stmt) -> bool:
        """Return whether one run may come to a node and then to another one of its function."""
        return (
            self.function_of(node) is self.function_of(other)
            and position(node) < position(other)
            and not self.excludes(node, other)
        )

    def excludes(self, node: ast.AST, other: ast.AST) -> bool:
        """Return whether a run that comes to a node does not come to another one after it."""
        theirs = self.branches(other)
        return self.is_either_or(node, other) or any(
            isinstance(at, ast.If) and at not in theirs and isinstance(getattr(at, arm)[-1], LEAVES)
            for at, arm in self.branches(node).items()
        )


def position(node: ast.expr | ast.stmt) -> Position:
    """Return where a node begins; a call of a chain where the chain ends."""
    # The calls of `a.b().c()` begin at one place; they run in the order in which they end.
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _is_always(at: ast.AST, arm: str) -> bool:
    """Return whether every run that goes on comes to a branch."""
    match at:
        case ast.If(test=test):
            return truth(test) is (arm == "body")
        case ast.While(test=test):
            return truth(test) is True
        case ast.Try(handlers=handlers):
            # A run that goes on after a block whose handlers raise has been through all of it.
            is_kept = all(not is_broad(handler) or fails(handler) for handler in handlers)
            return arm == "finalbody" or (arm in ("body", "orelse") and is_kept)
    return False


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler takes any exception."""
    return handler.type is None or bool(BROAD & set(map(identifier, ast.walk(handler.type))))


def fails(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler may let the run fail: others were expected, or lead to a retry."""
    return any(isinstance(node, ast.Raise) or is_exit(node) for node in ast.walk(handler))


def is_exit(node: ast.AST) -> bool:
    """Return whether a node is a call that ends the script."""
    match node:
        case ast.Call(func=ast.Name(id="exit" | "quit" | "_exit")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="sys" | "os"), attr="exit" | "_exit")):
            return True
    return False


def is_normal_exit(node: ast.AST) -> TypeGuard[ast.Raise | ast.Call]:
    """Return whether a node may end the run as SUCCEEDED: `sys.exit()`, `raise SystemExit()`."""
    match node:
        case ast.Raise(exc=ast.Call(func=ast.Name(id="SystemExit"), args=codes)):
            pass
        case ast.Call(args=codes) if is_exit(node):
            pass
        case _:
            return False
    return not (codes and isinstance(codes[0], ast.Constant) and codes[0].value)


def truth(test: ast.expr) -> bool | None:
    """Return the constant value of a test in a job run, None if it varies."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id="TYPE_CHECKING"):
            return False
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand)
            return None if inner is None else not inner
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]):
            return True
        case ast.Compare(left=ast.Constant(value="JOB_NAME" | "--JOB_NAME"), ops=[operator]):
            return not isinstance(operator, ast.NotIn)
    return None


def parsed_script(text: str) -> ast.Module:
    r"""Return the program of a script, each lambda as a function in front of its statement.

    >>> ast.unparse(parsed_script("read = lambda table: spark.table(table)"))
    'def read(table):\n    return spark.table(table)'
    >>> ast.unparse(parsed_script("all = map(lambda t: spark.table(t), tables)"))
    'def lambda_1_10(t):\n    return spark.table(t)\nall = map(lambda_1_10, tables)'
    """
    tree = program_of(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]:
        statement: ast.AST = node
        while not isinstance(statement, ast.stmt):
            statement = parents[statement]
        name, inserted = f"lambda_{node.lineno}_{node.col_offset}", [statement]
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=bound)], value=value)
                | ast.AnnAssign(target=ast.Name(id=bound), value=value)
            ) if value is node:
                name, inserted = bound, []
        returned = ast.copy_location(ast.Return(node.body), node.body)
        function = ast.FunctionDef(name, node.args, [returned], [])
        ast.copy_location(function, node)
        _replace(parents[node], node, [ast.copy_location(ast.Name(name, ast.Load()), node)])
        _replace(parents[statement], statement, [function, *inserted])
        parents |= {function: parents[statement], node.args: function, node.body: returned}
        parents[returned] = function
    return tree


def _replace(parent: ast.AST, node: ast.AST, by: list[ast.AST]) -> None:
    """Put nodes in the place of a child of another one."""
    for name, part in ast.iter_fields(parent):
        if isinstance(part, list) and node in part:
            part[part.index(node) : part.index(node) + 1] = by
        elif part is node:
            setattr(parent, name, by[0])
