"""Reads a job script: the effect of its calls on bookmark and arguments."""

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from tidemark.checks.lint import layout
from tidemark.checks.lint.facts import (
    Ask,
    Opened,
    ScriptFacts,
    asked_names,
    hands_the_context_out,
    is_ask,
    is_init_without_args,
    is_job_call,
    is_of_a_job,
    note_arguments,
)
from tidemark.checks.lint.layout import Layout, Way, parsed_script
from tidemark.checks.script.operators import Ctx, Operator, is_spark_read, is_write, operator_of
from tidemark.checks.script.script_names import (
    ScriptPlace,
    called_functions,
    identifier,
    names_of,
    place_of,
)
from tidemark.errors import UsageError
from tidemark.model.programs import nodes_of

MAX_SOURCES = 200  # of one ctx that are compared


def read_script(text: str, file: str) -> ScriptFacts:
    """Return the facts of a script."""
    try:
        tree = parsed_script(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = getattr(error, "msg", None) or str(error)
        raise UsageError(f"{file}, line {line}: not Python 3 ({reason}); fix it first") from error
    return ScriptReader(tree).read()


class ScriptReader:
    """One script while it is read."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._names = names_of(tree)
        self._layout = Layout(tree, self._names)
        self._facts = ScriptFacts()
        self._opened: list[tuple[Operator, ast.Call, Way]] = []
        calls = self._layout.calls
        self._inits = [call for call in calls if is_job_call(call, "init", self._names)]
        self._commits = [call for call in calls if is_job_call(call, "commit", self._names)]
        self._certain_inits = self._layout.leaders(self._inits, is_certain=True)
        self._certain_commits = self._layout.leaders(self._commits, is_certain=True)
        self._reads: dict[ast.Call, None] = {}  # in their order, each once

    def read(self) -> ScriptFacts:
        """Return the facts of the whole script."""
        facts, names = self._facts, self._names
        facts.is_entry = any(
            names.makes_a_job(call) or names.class_of(call) == "GlueContext"
            for call in self._layout.calls
        )
        for call in self._layout.calls:
            self._note(call)
        self._note_job()
        self._note_opened()
        facts.ends = list(dict.fromkeys(self._ends()))
        facts.commits_after_error = list(self._after_errors())
        note_arguments(self._tree, names, facts)
        return facts

    def _note(self, call: ast.Call) -> None:
        """Note what one call does, on each way to it."""
        facts, names, ways = self._facts, self._names, self._layout.ways(call)
        if is_spark_read(call, names):
            facts.spark_reads.append(place_of(call))
        values = [*call.args, *(word.value for word in call.keywords)]
        if hands_the_context_out(call, values, names):
            facts.has_hidden_source = True
            self._reads[call] = None
        # What code of others does with a Job cannot be seen: it may commit, or never.
        is_own = bool(called_functions(call, names))
        if not is_own and any(identifier(value) in names.jobs for value in values):
            facts.has_hidden_job = True
        for way in ways:
            operator = None if is_own else operator_of(call, names, way.scope)
            self._opened += [(operator, call, way)] if operator else []
        if is_ask(call):
            self._note_ask(call, ways)
        # A function that nothing visible calls may be a callback, as of foreachBatch: what it says
        # for itself counts, and what depends on its caller does not.
        if not ways:
            operator = operator_of(call, names, names.constants)
            if operator and operator.ctx in (Ctx.LITERAL, Ctx.MISSING):
                facts.opened.append(Opened(operator))
            facts.has_hidden_job |= call in (*self._inits, *self._commits)

    def _note_ask(self, call: ast.Call, ways: list[Way]) -> None:
        for way in ways:
            asked = asked_names(call, way.scope)
            self._facts.asks.append(Ask(place_of(call), asked))
            if not any(map(self._layout.conditions, way.sites)):
                self._facts.always_asked |= set(asked or ())
        self._facts.asks += [] if ways else [Ask(place_of(call), None)]

    def _note_job(self) -> None:
        """Note the calls of init and commit."""
        facts, names = self._facts, self._names
        facts.inits = [place_of(call) for call in self._inits]
        facts.inits_without_args = [
            place_of(call)
            for call in self._inits
            if is_init_without_args(call) and is_of_a_job(call, names)
        ]
        own = [call for call in self._commits if is_of_a_job(call, names)]
        facts.has_hidden_job |= len(own) < len(self._commits)
        facts.commits = [place_of(call) for call in own]
        facts.commits_before_init = [
            place_of(call)
            for call in own
            if not all(map(self._is_after_init, self._layout.ways(call)))
        ]
        ends = [node.finalbody for node in nodes_of(self._tree) if isinstance(node, ast.Try)]
        last = {node for body in ends for statement in body for node in ast.walk(statement)}
        in_finally = [call for call in own if last.intersection(self._layout.leaders([call]))]
        facts.commits_in_finally = list(map(place_of, in_finally))

    def _note_opened(self) -> None:
        """Note the operators, each with the lines where its ctx may have been used before."""
        inits = self._layout.leaders(self._inits)
        known: dict[tuple[ast.Call, str], Opened] = {}
        before: dict[str, list[tuple[ast.Call, Way]]] = {}
        self._opened.sort(key=lambda item: [*map(layout.position, item[2].sites[::-1])])
        for operator, call, way in self._opened:
            if operator.is_source and operator.is_bookmarked:
                self._reads[call] = None
            lines = set[int]()
            if operator.ctx is Ctx.LITERAL:
                ways = before.setdefault(operator.text, [])
                lines = {one.lineno for one, earlier in ways if not self._excludes(earlier, way)}
                # An init loads the stored bookmark, so that a ctx starts afresh.
                if any(not set(inits) & set(ast.walk(loop)) for loop in way.repeating):
                    lines.add(call.lineno)
                ways += [(call, way)] if len(ways) < MAX_SOURCES else []
            earlier = known.get((call, operator.text), Opened(operator))
            known[call, operator.text] = Opened(
                operator,
                tuple(sorted({*earlier.same_ctx, *lines})),
                earlier.is_after_init and self._is_after_init(way),
            )
        self._facts.opened += known.values()

    def _excludes(self, way: Way, other: Way) -> bool:
        pairs = ((site, its) for site in way.sites for its in other.sites)
        return any(self._layout.excludes(site, its) for site, its in pairs)

    def _is_after_init(self, way: Way) -> bool:
        inits = self._certain_inits
        return any(self._layout.precedes(init, site) for site in way.sites for init in inits)

    def _ends(self) -> Iterator[ScriptPlace]:
        """Yield the sources that no commit certainly follows, and the ways out before one."""
        for call in self._reads:
            if not all(self._is_committed(way.sites) for way in self._layout.ways(call)):
                yield place_of(call)
        for node in nodes_of(self._tree):
            if isinstance(node, ast.Return) or layout.is_normal_exit(node):
                yield from (place_of(node) for way in self._layout.ways(node) if self._loses(way))

    def _is_committed(self, sites: Sequence[ast.expr | ast.stmt]) -> bool:
        commits = self._certain_commits
        return any(self._layout.follows(commit, site) for site in sites for commit in commits)

    @cached_property
    def _committed_reads(self) -> list[ast.Call]:
        """Return the calls that lead to a source, and that a commit certainly follows."""
        return [read for read in self._layout.leaders(self._reads) if self._is_committed([read])]

    def _loses(self, out: Way) -> bool:
        """Return whether a way out comes after a source, and before the commit that follows it."""
        at, sites, commits = self._layout, out.sites, self._certain_commits
        if isinstance(sites[0], ast.Return):
            # It leaves its function only: a commit may follow in the one that called it.
            if self._is_committed(sites[1:]):
                return False
            sites = sites[:1]
        return any(
            at.may_precede(read, site)
            and not any(
                at.may_precede(read, commit) and at.precedes(commit, site) for commit in commits
            )
            for site in sites
            for read in self._committed_reads
        )

    def _after_errors(self) -> Iterator[tuple[ScriptPlace, ScriptPlace]]:
        """Yield handlers that swallow the error of a write, each with the commit they lead to."""
        writes = set(self._layout.leaders(call for call in self._layout.calls if is_write(call)))
        for statement, handler in _swallowing(self._tree):
            tried = {node for part in statement.body for node in ast.walk(part)}
            # A handler that writes makes good what failed.
            if tried & writes and not writes.intersection(ast.walk(handler)):
                for commit in self._led_to(statement, handler, tried):
                    place = place_of(handler)
                    yield ScriptPlace(place.line, place.line), place_of(commit)
                    break

    def _led_to(
        self, statement: ast.Try, handler: ast.ExceptHandler, tried: set[ast.AST]
    ) -> list[ast.Call]:
        """Return the commits that a handler leads to, unseen by what comes between."""
        commits = [call for call in self._layout.leaders(self._commits) if call not in tried]
        if within := [commit for commit in commits if commit in set(ast.walk(handler))]:
            return within
        given_up = [
            node
            for loop in self._layout.around(statement)
            for part in getattr(loop, "orelse", ())
            if isinstance(loop, ast.For | ast.While)
            for node in ast.walk(part)
        ]
        if (
            layout.fails(handler)
            or any(isinstance(node, ast.Raise) for node in given_up)
            or self._reports(handler)
            or _tested(self._tree) & _touched(statement, handler)
        ):
            return []
        sites = [site for way in self._layout.ways(statement) for site in way.sites]
        may_precede = self._layout.may_precede
        return [commit for commit in commits if any(may_precede(site, commit) for site in sites)]

    def _reports(self, handler: ast.ExceptHandler) -> bool:
        """Return whether a handler hands the failure on to what cannot be followed."""
        return any(
            (isinstance(node, ast.Return) and node.value is not None)
            or (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in self._names.imports
            )
            for node in ast.walk(handler)
        )


def _swallowing(tree: ast.Module) -> Iterator[tuple[ast.Try, ast.ExceptHandler]]:
    """Yield the handlers of any exception, `with suppress(Exception)` as one of them."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Try):
            yield from ((node, handler) for handler in node.handlers if layout.is_broad(handler))
        for item in node.items if isinstance(node, ast.With) else ():
            match item.context_expr:
                case ast.Call(func=function, args=kinds) if identifier(function) == "suppress":
                    one = ast.ExceptHandler(ast.Tuple(kinds, ast.Load()), None, [ast.Pass()])
                    ast.copy_location(one, node)
                    if layout.is_broad(one):
                        yield node, one  # type: ignore[misc]


def _tested(tree: ast.Module) -> set[str | None]:
    """Return the names on which a script decides anything."""
    return {
        identifier(part)
        for node in nodes_of(tree)
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Match)
        for part in ast.walk(node.subject if isinstance(node, ast.Match) else node.test)
    }


def _touched(statement: ast.Try, handler: ast.ExceptHandler) -> set[str | None]:
    """Return the names that tell code after a statement that it failed."""
    touched = set[str | None]()
    for part in (*statement.body, *getattr(statement, "orelse", ()), handler):
        for node in ast.walk(part):
            match node:
                case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                    touched.add(identifier(node))
                case ast.Subscript(value=value, ctx=ast.Store()):
                    touched.update(map(identifier, ast.walk(value)))
                case ast.Call(func=ast.Attribute(value=value)) if part is handler:
                    touched.update(map(identifier, ast.walk(value)))
    return touched - {None}
