"""The SQL of scripts, by a parser: what a query adds to, replaces, reads and numbers.

The parser is loaded when the first query is read: it takes a third of a second.
"""

import ast
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sqlglot import exp

UNKNOWN = ("\0", "\0")  # around what only a run knows: in SQL `<` compares
HOLE = re.compile(r"\{[^{}]*\}|\0[^\0]*\0")
WORD = re.compile(r"hole_((?:[0-9a-f]{2})+)_")
INSERT = re.compile(r"\binsert\b", re.IGNORECASE)
BEFORE_TABLES = {"", "FROM", "INTO", "JOIN", "OVERWRITE", "TABLE", "UPDATE", "USING"}
NUMBERING = {"row_number", "monotonically_increasing_id", "uuid"}

Names: TypeAlias = tuple[str, ...]
"""A table by its names: `("glue_catalog", "sales", "orders")`."""


@dataclass(frozen=True)
class Query:
    """What a statement does; a folder that it replaces counts as a table of one name.

    Attributes:
        adds: tables to which it adds rows.
        replaces: tables whose rows it deletes before it writes.
        reads: tables that it reads.
        view: the view that it makes of them.
    """

    adds: tuple[Names, ...] = ()
    replaces: tuple[Names, ...] = ()
    reads: tuple[Names, ...] = ()
    view: Names = ()


def read_query(text: str) -> Query | None:
    """Return what a query does; None if that cannot be judged."""
    from sqlglot import exp

    trees = _parsed(text)
    if trees is None or any(isinstance(tree, exp.Condition) for tree in trees):  # a hole
        return None
    tables = [table for tree in trees for table in tree.find_all(exp.Table)]
    inserts = [insert for tree in trees for insert in _inserts(tree)]
    adding = [insert.this for insert in inserts if not _replaces(insert)]
    replacing = [insert.this for insert in inserts if _replaces(insert)]
    replacing += [tree.expressions[0] for tree in trees if isinstance(tree, exp.TruncateTable)]
    views = [tree.this for tree in trees if isinstance(tree, exp.Create) and tree.kind == "VIEW"]
    targets = (*adding, *replacing, *views)
    written = {id(table) for target in targets for table in target.find_all(exp.Table)}
    own = {cte.alias for tree in trees for cte in tree.find_all(exp.CTE)}
    read = [table for table in tables if id(table) not in written and table.name not in own]
    return Query(
        tuple(map(_names, adding)),
        tuple(map(_names, replacing)),
        tuple(map(_names, read)),
        _names(views[0]) if views else (),
    )


def tables_named_in(text: str) -> Iterator[Names]:
    """Yield the tables that a query names; with three names at least where it is not parsed."""
    from sqlglot import exp

    trees = _parsed(text)
    if trees is None:
        yield from _named_by_words(text)
    for tree in trees or ():
        yield from map(_names, tree.find_all(exp.Table))
        if isinstance(tree, exp.Command):
            rest = tree.args["expression"]
            yield from _named_by_words(rest.name if isinstance(rest, exp.Expr) else str(rest))


def creates_unplaced(text: str) -> bool:
    """Return whether a query creates a table without a LOCATION."""
    from sqlglot import exp

    created = [tree for tree in _parsed(text) or () if isinstance(tree, exp.Create)]
    return any(tree.kind == "TABLE" and not tree.find(exp.LocationProperty) for tree in created)


def may_insert(text: str) -> bool:
    """Return whether a query that cannot be judged may add rows."""
    return bool(INSERT.search(text)) or not HOLE.sub("", text).strip() or text.startswith("\0")


def numbered_columns(text: str) -> Iterator[str]:
    """Yield the columns that a query, or an expression of one, numbers itself."""
    from sqlglot import exp

    if not any(name in text.lower() for name in NUMBERING):
        return
    for tree in _parsed(text) or ():
        for alias in tree.find_all(exp.Alias):
            calls = alias.find_all(exp.Func)
            if NUMBERING & {call.name.lower() or call.sql_name().lower() for call in calls}:
                yield alias.alias


def query_of(node: ast.expr) -> str:
    """Return a query as a script writes it, with holes for values; `""` for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(query_of(part) or "{}" for part in parts)
    return ""


@lru_cache(maxsize=64)  # several rules ask for one query
def _parsed(text: str) -> "list[exp.Expr] | None":
    import sqlglot

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it reports what it does not parse
    try:
        return [tree for tree in sqlglot.parse(_with_words(text), read="spark") if tree is not None]
    except (sqlglot.errors.SqlglotError, ValueError, RecursionError):  # of no name: `UUID ("")`
        return None


def _with_words(text: str) -> str:
    """Return a query with a word in the place of each hole."""
    return HOLE.sub(lambda hole: f"hole_{hole[0].encode().hex()}_", text)


def _with_holes(name: str) -> str:
    return WORD.sub(lambda word: bytes.fromhex(word[1]).decode(), name)


def _inserts(tree: "exp.Expr") -> "list[exp.Insert]":
    """Return the inserts of a statement, without those of a MERGE."""
    from sqlglot import exp

    if isinstance(tree, exp.MultitableInserts):
        return list(tree.find_all(exp.Insert))
    return [tree] if isinstance(tree, exp.Insert) else []


def _replaces(insert: "exp.Insert") -> bool:
    return bool(insert.args.get("overwrite") or insert.args.get("where"))


def _names(node: "exp.Expr") -> Names:
    """Return the names of a table, with holes as the script has them; a folder has one."""
    from sqlglot import exp

    table = node.find(exp.Table)
    parts = [part.name for part in table.parts] if table else [node.name]
    return tuple(map(_with_holes, parts))


def _named_by_words(text: str) -> Iterator[Names]:
    """Yield the tables with a catalog of a statement that is not parsed: `CALL a.system.b()`."""
    import sqlglot

    try:
        words = [token.text for token in sqlglot.tokenize(_with_words(text), read="spark")]
    except sqlglot.errors.SqlglotError:
        return
    for at in range(len(words) - 4):
        before = words[at - 1].upper() if at else ""
        if words[at + 1] == words[at + 3] == "." and before in BEFORE_TABLES:
            yield tuple(_with_holes(words[part]) for part in (at, at + 2, at + 4))
