"""Follows the control flow of a script: every statement, on every way that leads to it."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from tidemark.checks.lint.paths import (
    NOWHERE,
    Caught,
    Jumps,
    Point,
    caught,
    handled,
    join,
    resolved,
)
from tidemark.checks.script.place import place_of
from tidemark.checks.script.script_names import FUNCTION, identifier

BROAD = {"Exception", "BaseException"}
NEVER_RAISES = (ast.Break, ast.Continue, ast.Pass)


class Flow:
    """Walks through statements and expressions in the order of Python."""

    def __init__(self) -> None:
        self._jumps = Jumps()
        self._raised: list[Point] = [NOWHERE]
        self._writes = 0
        self._finally_depth = 0

    def block(self, body: list[ast.stmt], point: Point) -> Point:
        """Return the point at the end of a block, NOWHERE if control always leaves it before."""
        for statement in body:
            if not point.is_reached:
                break
            if not isinstance(statement, NEVER_RAISES):
                self._may_raise(point)
            visit = getattr(self, f"_on_{type(statement).__name__}", self.expression)
            point = visit(statement, point)
        return point

    def call(self, node: ast.Call, point: Point) -> Point:
        """Return the point after a call whose arguments are evaluated already."""
        return point

    def expression(self, node: ast.AST, point: Point) -> Point:
        """Return the point after an expression, or after a statement that only evaluates."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return point
            case ast.IfExp(test=test, body=body, orelse=orelse):
                point = self.expression(test, point)
                return join(self.expression(body, point), self.expression(orelse, point))
            case ast.BoolOp(values=[first, *others]):
                return self._maybe(others, self.expression(first, point))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                first, *again = [part for it in node.generators for part in (it.iter, *it.ifs)]
                again += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                each = partial(self._maybe, again)
                return self.any_times(each, self.expression(first, point))
            case ast.Call():
                return self._on_call(node, point)
        for child in ast.iter_child_nodes(node):
            point = self.expression(child, point)
        return point

    def _maybe(self, nodes: list[ast.expr], point: Point) -> Point:
        """Return the point after expressions; later ones may not be evaluated."""
        reached = [point]
        for node in nodes:
            reached.append(self.expression(node, reached[-1]))
        return join(*reached)

    def any_times(self, run: Callable[[Point], Point], point: Point) -> Point:
        """Return the point after something that runs any number of times."""
        while (again := join(point, run(point))) != point:
            point = again
        return point

    def _on_call(self, node: ast.Call, point: Point) -> Point:
        """Return the point after a chain of calls such as ``a.b(c).d(e)``, however long."""
        chain: list[ast.Call] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Call | ast.Attribute):
            if isinstance(inner, ast.Call):
                chain.append(inner)
            inner = inner.func if isinstance(inner, ast.Call) else inner.value
        point = self.expression(inner, point)
        for call in reversed(chain):
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                point = self.expression(value, point)
            self._may_raise(point)
            point = self.call(call, point) if point.is_reached else point
        return point

    def _may_raise(self, point: Point) -> None:
        self._raised[-1] = join(self._raised[-1], point)

    def _on_ClassDef(self, node: ast.ClassDef, point: Point) -> Point:  # noqa: N802
        return self.block(node.body, point)

    def _on_Return(self, node: ast.Return, point: Point) -> Point:  # noqa: N802
        self._jumps.returns.append(self._evaluated(node.value, point))
        return NOWHERE

    def _on_Break(self, _: ast.Break, point: Point) -> Point:  # noqa: N802
        self._jumps.breaks.append(point)
        return NOWHERE

    def _on_Continue(self, _: ast.Continue, point: Point) -> Point:  # noqa: N802
        self._jumps.continues.append(point)
        return NOWHERE

    def _on_Raise(self, node: ast.Raise, point: Point) -> Point:  # noqa: N802
        point = self._evaluated(node.exc, point)
        self._may_raise(point)
        if isinstance(node.exc, ast.Call) and is_normal_exit(node.exc):
            self._jumps.exits.append((place_of(node), point))
        return NOWHERE

    def _evaluated(self, node: ast.expr | None, point: Point) -> Point:
        return self.expression(node, point) if node is not None else point

    def _on_If(self, node: ast.If, point: Point) -> Point:  # noqa: N802
        point = self._tested(node.test, point)
        if (always := truth(node.test)) is not None:
            return self.block(node.body if always else node.orelse, point)
        return join(self.block(node.body, point), self.block(node.orelse, point))

    def _tested(self, test: ast.expr, point: Point) -> Point:
        point = self.expression(test, point)
        return point.each(resolved(identifiers(test)))

    def _on_While(self, node: ast.While, point: Point) -> Point:  # noqa: N802
        is_endless = truth(node.test) is True
        return self._loop(node, point, lambda entry: self._tested(node.test, entry), is_endless)

    def _on_For(self, node: ast.For | ast.AsyncFor, point: Point) -> Point:  # noqa: N802
        return self._loop(node, self.expression(node.iter, point), lambda entry: entry, False)

    _on_AsyncFor = _on_For  # noqa: N815

    def _loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        point: Point,
        enter: Callable[[Point], Point],
        is_endless: bool,
    ) -> Point:
        """Return the point after a loop whose body runs any number of times."""
        breaks: list[Point] = []
        while True:
            outer, self._jumps = self._jumps, replace(self._jumps, breaks=breaks, continues=[])
            end = self.block(node.body, enter(point))
            again = join(point, end, *self._jumps.continues)
            self._jumps = outer
            if again == point:
                break
            point = again
        after = NOWHERE if is_endless else self.block(node.orelse, enter(point))
        return join(after, *breaks)

    def _on_With(self, node: ast.With | ast.AsyncWith, point: Point) -> Point:  # noqa: N802
        for item in node.items:
            point = self.expression(item.context_expr, point)
        suppressed = [
            value
            for item in node.items
            if isinstance(item.context_expr, ast.Call)
            and identifier(item.context_expr.func) == "suppress"
            for value in item.context_expr.args
        ]
        if suppressed:
            exceptions = ast.Tuple(suppressed, ast.Load())
            handler = ast.copy_location(ast.ExceptHandler(exceptions, None, [ast.Pass()]), node)
            return self._with_handlers(ast.Try(node.body, [handler], [], []), point)
        return self.block(node.body, point)

    _on_AsyncWith = _on_With  # noqa: N815

    def _on_Match(self, node: ast.Match, point: Point) -> Point:  # noqa: N802
        point = self._tested(node.subject, point)
        ends = [self.block(case.body, point) for case in node.cases]
        last = node.cases[-1]
        if (
            last.guard is None
            and isinstance(last.pattern, ast.MatchAs)
            and not last.pattern.pattern
        ):
            return join(*ends)
        return join(point, *ends)

    def _on_Try(self, node: ast.Try, point: Point) -> Point:  # noqa: N802
        if not node.finalbody:
            return self._with_handlers(node, point)
        outer, self._jumps = self._jumps, Jumps()
        self._raised.append(NOWHERE)
        end = self._with_handlers(node, point)
        failed, inner = self._raised.pop(), self._jumps
        self._jumps = outer
        self._finally_depth += 1
        self._may_raise(self.block(node.finalbody, failed))
        for name in ("returns", "breaks", "continues"):
            for jump in getattr(inner, name):
                getattr(outer, name).append(self.block(node.finalbody, jump))
        for place, leaving in inner.exits:
            outer.exits.append((place, self.block(node.finalbody, leaving)))
        end = self.block(node.finalbody, end)
        self._finally_depth -= 1
        return end

    _on_TryStar = _on_Try  # noqa: N815

    def _with_handlers(self, node: ast.Try, point: Point) -> Point:
        self._raised.append(NOWHERE)
        writes = self._writes
        end = self.block(node.body, point)
        failed = self._raised.pop()
        end = self.block(node.orelse, end)
        if not any(is_broad(handler) for handler in node.handlers):
            self._may_raise(failed)
        ends = [end]
        for handler in node.handlers:
            start = failed
            if self._writes > writes and is_broad(handler) and not self.reports(handler):
                place = place_of(handler)
                passed = Caught(replace(place, end_line=place.line), _touched(node, handler))
                start = failed.each(caught(passed))
            ended = self.block(handler.body, start)
            # One that raises on some way: others were expected, or lead to a retry.
            raises = any(isinstance(it, ast.Raise) for it in ast.walk(handler))
            ends.append(ended.each(handled) if raises else ended)
        return join(*ends)

    def reports(self, handler: ast.ExceptHandler) -> bool:
        """Return whether a handler hands the failure on to what cannot be followed."""
        return any(
            isinstance(node, ast.Return) and node.value is not None for node in _own(handler)
        )


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler takes any exception."""
    return handler.type is None or bool(BROAD & set(identifiers(handler.type)))


def is_normal_exit(call: ast.Call) -> bool:
    """Return whether a call of exit, or SystemExit, may end the run as SUCCEEDED."""
    code = call.args[0] if call.args else None
    is_constant = isinstance(code, ast.Constant)
    return identifier(call.func) in {"exit", "quit", "_exit", "SystemExit"} and (
        not is_constant or not code.value  # type: ignore[union-attr]
    )


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


def identifiers(node: ast.AST) -> Iterator[str]:
    """Yield the names of all variables and attributes in an expression."""
    for part in ast.walk(node):
        if name := identifier(part):
            yield name


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node, without those of functions in it."""
    left = [node]
    while left:
        node = left.pop()
        yield node
        left += [] if isinstance(node, FUNCTION) else ast.iter_child_nodes(node)


def _touched(node: ast.Try, handler: ast.ExceptHandler) -> frozenset[str]:
    """Return the names that tell code after a try that it failed."""
    found: set[str] = set()
    for part in (*node.body, *node.orelse, handler):
        for one in ast.walk(part):
            match one:
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Subscript(value=value, ctx=ast.Store()):
                    found.update(identifiers(value))
                case ast.Call(func=ast.Attribute(value=value)) if part is handler:
                    found.update(identifiers(value))
    return frozenset(found)
