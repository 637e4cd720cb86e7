"""Reads a job script: follows it and notes the effect of its calls on bookmark and arguments."""

import ast
from functools import partial

from tidemark.checks.lint import paths
from tidemark.checks.lint.arguments_read import note_arguments
from tidemark.checks.lint.facts import Ask, End, Facts, Opened
from tidemark.checks.lint.flow import Flow, is_normal_exit
from tidemark.checks.lint.job_calls import (
    asked_options,
    hands_the_context_out,
    is_ask,
    is_exit,
    is_init_without_args,
    is_job_call,
    is_of_a_job,
)
from tidemark.checks.lint.lambdas import parsed_script
from tidemark.checks.lint.paths import NOWHERE, START, Jumps, Point, join
from tidemark.checks.script.expressions import Value
from tidemark.checks.script.literals import Scope, literal, local_constants, strings
from tidemark.checks.script.operators import Ctx, is_spark_read, is_write, operator_of
from tidemark.checks.script.place import Place, place_of
from tidemark.checks.script.script_names import (
    FUNCTION,
    Function,
    bound_arguments,
    called_functions,
    identifier,
    names_of,
    parameters,
)
from tidemark.errors import UsageError

MAX_INLINED_CALLS = 5_000  # a script that needs more is followed no further
# Calls that run the function they are given any number of times: of Python, and of its pools.
MAPPING = {
    "filter",
    "imap",
    "imap_unordered",
    "map",
    "map_async",
    "reduce",
    "starmap",
    "starmap_async",
}


def read_script(text: str, file: str) -> Facts:
    """Return the facts of a script."""
    try:
        tree = parsed_script(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = getattr(error, "msg", None) or str(error)
        raise UsageError(f"{file}, line {line}: not Python 3 ({reason}); fix it first") from error
    return ScriptReader(tree).read()


class ScriptReader(Flow):
    """One script while it is read."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__()
        self._tree = tree
        self._names = names_of(tree)
        self._scope: Scope = self._names.constants
        functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTION)]
        self._nested = {
            node for function in functions for node in ast.walk(function) if node is not function
        }
        self._running: list[Function] = []
        self._ran: set[Function] = set()
        self._inlined = 0
        self._seen: set[ast.Call] = set()
        self._opened: dict[tuple[ast.Call, str], Opened] = {}
        self._ends: dict[Place, bool] = {}
        last = place_of(tree.body[-1]) if tree.body else Place(1, 1)
        self._facts = Facts(Place(last.end_line, last.end_line))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self._facts.is_entry = any(
            self._names.makes_a_job(call) or self._names.class_of(call) == "GlueContext"
            for call in calls
        )

    def read(self) -> Facts:
        """Return the facts of the whole script."""
        facts = self._facts
        end = self.block(self._tree.body, START)
        exits = [(place, point) for place, point in self._jumps.exits if point.is_reached]
        if end.is_reached:
            exits.append((facts.last, end))
        for place, point in exits:
            for path in point.paths:
                if path.has_read:
                    self._ends[place] = self._ends.get(place, False) or path.has_written
        self._note_unreached()
        facts.opened = list(self._opened.values())
        facts.ends = [End(place, written) for place, written in self._ends.items()]
        facts.always_asked = join(*(point for _, point in exits)).asked
        note_arguments(self._tree, self._names, facts)
        for places in (
            facts.inits,
            facts.inits_without_args,
            facts.commits,
            facts.commits_in_finally,
        ):
            places[:] = sorted(set(places), key=lambda place: place.line)
        return facts

    def _note_unreached(self) -> None:
        """Note the calls in functions that nothing visible calls, as far as they say anything."""
        facts = self._facts
        parts = [it for it in ast.walk(self._tree) if isinstance(it, FUNCTION)]
        inner = [node for part in parts if part not in self._ran for node in ast.walk(part)]
        for call in (node for node in inner if isinstance(node, ast.Call)):
            if call in self._seen:
                continue
            self._seen.add(call)
            operator = operator_of(call, self._names, self._scope)
            if operator and operator.ctx in (Ctx.LITERAL, Ctx.MISSING):
                self._opened.setdefault((call, operator.text), Opened(operator))
            if any(is_job_call(call, name, self._names) for name in ("init", "commit")):
                facts.has_hidden_job = True
            if is_ask(call):
                facts.asks.append(Ask(place_of(call), None))
            if is_spark_read(call, self._names):
                facts.spark_reads.append(place_of(call))

    def call(self, node: ast.Call, point: Point) -> Point:
        """Return the point after a call whose arguments are evaluated already."""
        self._seen.add(node)
        if is_exit(node):
            if is_normal_exit(node):
                self._jumps.exits.append((place_of(node), point))
            return NOWHERE
        if is_job_call(node, "init", self._names):
            return self._init(node, point)
        if is_job_call(node, "commit", self._names):
            return self._commit(node, point)
        if functions := called_functions(node, self._names):
            ends = []
            for function in functions:  # whichever of them it is
                given = {**dict.fromkeys(parameters(function)), **self._arguments(function, node)}
                ends.append(self._run(function, given, point))
            return join(*ends)
        return self._foreign(node, self._glue(node, point))

    def _init(self, node: ast.Call, point: Point) -> Point:
        self._facts.inits.append(place_of(node))
        if is_init_without_args(node) and is_of_a_job(node, self._names):
            self._facts.inits_without_args.append(place_of(node))
        # It loads the stored bookmark, so a ctx that was used before starts afresh.
        return Point(point.each(paths.initialized).paths, frozenset(), point.asked)

    def _commit(self, node: ast.Call, point: Point) -> Point:
        place, facts = place_of(node), self._facts
        if not is_of_a_job(node, self._names):
            facts.has_hidden_job = True
            return point.each(paths.committed)
        facts.commits.append(place)
        if self._finally_depth:
            facts.commits_in_finally.append(place)
        for path in point.paths:
            if not path.is_init and place not in facts.commits_before_init:
                facts.commits_before_init.append(place)
            if path.caught and (path.caught.place, place) not in facts.commits_after_error:
                facts.commits_after_error.append((path.caught.place, place))
        return point.each(paths.committed)

    def _glue(self, node: ast.Call, point: Point) -> Point:
        """Note the effect of a call of Glue or Spark."""
        if is_ask(node):
            options = asked_options(node)
            known = strings(options, self._scope) if options is not None else None
            self._facts.asks.append(Ask(place_of(node), known))
            return Point(point.paths, point.opened, point.asked | set(known or ()))
        if is_spark_read(node, self._names):
            self._facts.spark_reads.append(place_of(node))
        if is_write(node):
            self._writes += 1
            point = point.each(paths.written)
        return self._operator(node, point)

    def _operator(self, node: ast.Call, point: Point) -> Point:
        operator = operator_of(node, self._names, self._scope)
        if operator is None:
            return point
        site = (operator.text, node.lineno, node.col_offset)
        is_after_init = all(path.is_init for path in point.paths)
        before = {line for ctx, line, _ in point.opened if ctx == operator.text}
        if operator.ctx is not Ctx.LITERAL:
            before = set()
        known = self._opened.get((node, operator.text))
        self._opened[node, operator.text] = Opened(
            operator,
            tuple(sorted({*before, *(known.same_ctx if known else ())})),
            is_after_init and (known is None or known.is_after_init),
        )
        if operator.is_source and operator.is_bookmarked:
            point = point.each(paths.read)
        return Point(point.paths, point.opened | {site}, point.asked)

    def _arguments(self, function: Function, node: ast.Call) -> dict[str, Value]:
        bound = bound_arguments(function, node, self._names)
        return {name: literal(value, self._scope) for name, value in bound.items()}

    def _run(self, function: Function, given: Scope, point: Point) -> Point:
        """Return the point after a function ran with these parameters."""
        self._inlined += 1
        if function in self._running or self._inlined > MAX_INLINED_CALLS:
            self._facts.has_hidden_job |= self._inlined > MAX_INLINED_CALLS
            return point
        outer, self._jumps = self._jumps, Jumps()
        outer_scope, self._scope = self._scope, self._inside(function, given)
        self._running.append(function)
        self._ran.add(function)
        end = self.block(function.body, point)
        self._running.pop()
        self._scope = outer_scope
        inner, self._jumps = self._jumps, outer
        outer.exits.extend(inner.exits)
        return join(end, *inner.returns)

    def _inside(self, function: Function, given: Scope) -> Scope:
        """Return what names are worth in a function; a parameter that is bound again, nothing."""
        around = self._scope if function in self._nested else self._names.constants
        own = local_constants(function, {**around, **given})
        again = dict.fromkeys(given.keys() & own.keys())
        return {**around, **given, **own, **again}

    def _foreign(self, node: ast.Call, point: Point) -> Point:
        """Follow the functions that are handed to other code, and note what else it gets."""
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        for value in values:
            name = identifier(value) or ""
            if isinstance(value, ast.Name) and name in self._names.functions:
                function = self._names.functions[name]
                run = partial(self._run, function, dict.fromkeys(parameters(function)))
                is_repeated = identifier(node.func) in MAPPING
                point = self.any_times(run, point) if is_repeated else run(point)
            elif name in self._names.jobs:
                self._facts.has_hidden_job = True
                point = point.each(lambda path: paths.committed(paths.initialized(path)))
        if hands_the_context_out(node, values, self._names):
            self._facts.has_hidden_source = True
            point = point.each(paths.read)
        return point

    def reports(self, handler: ast.ExceptHandler) -> bool:
        """Return whether a handler hands the failure on to what cannot be followed."""
        return super().reports(handler) or any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in self._names.imports
            for node in ast.walk(handler)
        )
