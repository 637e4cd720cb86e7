"""Which calls of a script delete data that the script has yet to read.

Spark and Glue read a frame when it is written: a write in the mode overwrite deletes its target
first, and a purge before the write deletes what the frame will read.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from tidemark.checks.script.appends import MODE_AT, SINKS
from tidemark.checks.script.chains import Link, argument, written_chain
from tidemark.checks.script.frames import (
    FILE_FORMATS,
    OTHER_FORMATS,
    Context,
    Data,
    FrameRead,
    Frames,
    address_of,
    table_of,
)
from tidemark.checks.script.reaching import position
from tidemark.checks.script.script_names import ScriptPlace, identifier, place_of
from tidemark.checks.script.sql import HOLE
from tidemark.model.programs import UNREADABLE, nodes_of, program_of

TO_FOLDER = {*FILE_FORMATS, "save", "xml"}
TO_TABLE = {"insertInto", "saveAsTable"}
DYNAMIC = "partitionoverwritemode"  # with it Spark deletes a partition when all is read
WRITING = {"jdbc", "sql", "writeFrame", *TO_FOLDER, *TO_TABLE}
WRITING |= {name.rpartition(".")[2] for name in SINKS}
PURGES = {"delete", "delete_object", "delete_objects", "purge_s3_path", "purge_table", "sql"}
LISTINGS = {"list_objects", "list_objects_v2", "paginate"}


@dataclass(frozen=True)
class Deleted:
    """A call that deletes data before the script has read them.

    Attributes:
        place: the call.
        data: what it deletes, as the script says it.
        read_line: the line that says that it is read.
        write_line: the line that reads it; that of the call, unless the call is a purge.
    """

    place: ScriptPlace
    data: str
    read_line: int
    write_line: int


@dataclass(frozen=True)
class _FrameWrite:
    """A call that writes a frame: what it deletes first, and what it reads."""

    call: ast.Call
    frame: ast.expr
    replaced: tuple[Data, ...] = ()


def deleted_sources(text: str, arguments: Mapping[str, str]) -> list[Deleted]:
    """Return the calls of a script that delete what it has yet to read, by line."""
    with suppress(*UNREADABLE):
        deleted = dict.fromkeys(_Reader(text, arguments).overwrites())
        return sorted(deleted, key=lambda call: call.place.line)
    return []


def read_targets(text: str, arguments: Mapping[str, str]) -> frozenset[ScriptPlace]:
    """Return the calls of Glue that read what the script also writes: they want all of it."""
    with suppress(*UNREADABLE):
        return frozenset(_Reader(text, arguments).targets())
    return frozenset()


def written_folders(text: str, arguments: Mapping[str, str]) -> dict[ScriptPlace, list[str]]:
    """Return the calls of a script that write folders, in whatever mode, with their URIs."""
    with suppress(*UNREADABLE):
        return _Reader(text, arguments).folders()
    return {}


class _Reader:
    """Compares what the writes of a script read with what they and the purges delete."""

    def __init__(self, text: str, arguments: Mapping[str, str]) -> None:
        tree = program_of(text)
        self._frames = Frames(tree, arguments)
        self._chains = self._frames.chains
        lower = f"{text} {' '.join(arguments.values())}".lower()
        self._is_dynamic = DYNAMIC in lower
        self._keeps_tables = any(name in lower for name in OTHER_FORMATS - {"jdbc"})
        self._owners: dict[str, set[str]] = {}  # of the keys that stand for arguments
        for node in nodes_of(tree):
            match node:
                case ast.Subscript(value=owner, slice=ast.Constant(value=str(key))):
                    self._owners.setdefault(f"{{--{key}}}", set()).add(ast.dump(owner))

        frames = self._frames
        self._ways = [(call, context) for call in frames.calls for context in frames.contexts(call)]
        self._purges = [
            (call, frames.sites(call, context), deleted)
            for call, context in self._ways
            if identifier(call.func) in PURGES
            if (deleted := tuple(self._deleted(call, context)))
        ]

    def overwrites(self) -> Iterator[Deleted]:
        """Yield the calls that delete what the script has yet to read."""
        for call, context in self._ways:
            for write in self._writes(call, context):
                reads = list(self._frames.reads(write.frame, context, position(call)))
                for data, read in self._both(write.replaced, reads):
                    yield Deleted(place_of(call), _shown(data), read.line, call.lineno)
                yield from self._purged(write, reads, context)

    def targets(self) -> Iterator[ScriptPlace]:
        """Yield the calls of Glue that read what the script also writes."""
        written = [data for call, context in self._ways for data in self._written(call, context)]
        for call, context in self._ways if written else ():
            opened = self._frames.opened_by_glue(call, context) or ()
            if any(self._is_same(data, source) for data in written for source in opened):
                yield place_of(call)

    def folders(self) -> dict[ScriptPlace, list[str]]:
        """Return the calls that write folders, with their URIs."""
        folders: dict[ScriptPlace, list[str]] = {}
        for call, context in self._ways:
            written = [data for data in self._written(call, context) if not data.is_table]
            uris = folders.setdefault(place_of(call), [])
            uris += (f"s3://{folder.address}" for folder in written)
        return folders

    def _purged(
        self, write: _FrameWrite, reads: list[FrameRead], context: Context
    ) -> Iterator[Deleted]:
        """Yield the purges that come between what a frame reads and its write."""
        writes = self._frames.sites(write.call, context)
        for purge, purges, deleted in self._purges if reads else ():
            for function in purges.keys() & writes.keys():
                here, there = purges[function], writes[function]
                at = position(here)
                if at < position(there) and not self._frames.place.is_either_or(here, there):
                    before = [read for read in reads if read.at.get(function, at) < at]
                    for data, read in self._both(deleted, before):
                        yield Deleted(place_of(purge), _shown(data), read.line, write.call.lineno)

    def _both(
        self, deleted: tuple[Data, ...], reads: list[FrameRead]
    ) -> Iterator[tuple[Data, FrameRead]]:
        for data in deleted:
            yield from ((data, read) for read in reads if self._is_of(data, read.data))

    def _is_of(self, deleted: Data, read: Data) -> bool:
        """Return whether what is deleted is certainly what is read, or a part of it."""
        folders = f"{deleted.address}/", f"{read.address}/"
        inner = folders[0].removeprefix(folders[1])
        # A frame of other partitions reads none of a partition that is deleted.
        is_part = inner != folders[0] and not re.match(r"[^/=]+=", inner)
        is_inside = is_part or folders[1].startswith(folders[0])
        is_folder = not deleted.is_table and not read.is_table and "*" not in "".join(folders)
        is_known = self._is_known(deleted.address) and self._is_known(read.address)
        return self._is_same(deleted, read) or (is_known and is_folder and is_inside)

    def _is_same(self, one: Data, other: Data) -> bool:
        """Return whether two expressions certainly name one folder, or one table."""
        if one.is_table != other.is_table:
            return False
        if self._is_known(one.address) and self._is_known(other.address):
            return one.address == other.address
        if one.node is None or other.node is None or one.function is not other.function:
            return False
        parts = list(ast.walk(one.node))
        values = [self._chains.values_of(part) for part in parts if isinstance(part, ast.Name)]
        is_made = any(isinstance(part, ast.Call) for part in parts)
        is_fixed = not is_made and all(len(held) < 2 for held in values)
        return is_fixed and ast.dump(one.node) == ast.dump(other.node)

    def _is_known(self, address: str) -> bool:
        """Return whether an address is certain, or of arguments that one variable holds."""
        holes = HOLE.findall(address)
        return bool(address) and all(len(self._owners.get(hole, ())) == 1 for hole in holes)

    def _writes(self, call: ast.Call, context: Context) -> Iterator[_FrameWrite]:
        method = identifier(call.func) or ""
        is_alias = isinstance(call.func, ast.Name) and bool(self._chains.values_of(call.func))
        if not is_alias and method not in WRITING:
            return
        for first, *rest in self._chains.of(call):
            if first.call is not call:
                continue
            if first.name == "sql" and rest:
                yield from self._query(call, context)
            names = {first.name, f"{rest[0].name}.{first.name}" if rest else ""}
            frame = argument(call, "frame", 0)
            if (names & SINKS.keys() or first.name == "writeFrame") and frame:
                yield _FrameWrite(call, frame)
            owners = (link.owner for link in rest if link.name == "write" and not link.call)
            if (owner := next(owners, None)) is not None:
                yield _FrameWrite(call, owner, tuple(self._replaced(first, rest, context)))

    def _query(self, call: ast.Call, context: Context) -> Iterator[_FrameWrite]:
        query = self._frames.query(call, context)
        if query and query.reads and (query.adds or query.replaces):
            kept = self._is_dynamic or self._keeps_tables
            yield _FrameWrite(call, call, () if kept else tuple(map(table_of, query.replaces)))

    def _replaced(self, first: Link, rest: list[Link], context: Context) -> list[Data]:
        """Return what a DataFrameWriter deletes before it writes."""
        call, kind = first.call, self._argument(rest, first, "format", -1, context)
        if call is None or self._is_dynamic or kind in OTHER_FORMATS:
            return []
        mode = self._argument(rest, first, "mode", MODE_AT.get(first.name, -1), context)
        told = argument(call, "overwrite", 1) if first.name == "insertInto" else None
        is_told = isinstance(told, ast.Constant) and told.value is True
        if mode != "overwrite" and not is_told:
            return []
        if first.name in TO_FOLDER:
            return self._frames.data(argument(call, "path", 0), context)
        if first.name == "jdbc":
            return self._frames.of_jdbc(call, context)
        if first.name not in TO_TABLE or self._keeps_tables:
            return []
        name = argument(call, "name" if first.name == "saveAsTable" else "tableName", 0)
        return self._frames.data(name, context, is_table=True)

    def _written(self, call: ast.Call, context: Context) -> list[Data]:
        """Return what a call writes, in whatever mode."""
        first, *rest = written_chain(call)
        frames, method = self._frames, first.name
        if method in TO_FOLDER or method == "getSink":
            return frames.data(argument(call, "path", -1 if method == "getSink" else 0), context)
        if not {method, f"{rest[0].name}.{method}" if rest else ""} & SINKS.keys():
            return []
        if method.endswith("from_catalog"):
            return frames.table(call, 1, context)
        return frames.option(argument(call, "connection_options", 2), "path", context)

    def _argument(self, rest: list[Link], first: Link, name: str, at: int, context: Context) -> str:
        """Return the mode or the format of a DataFrameWriter, in lower case."""
        given = argument(first.call, name, at) if first.call else None
        calls = [link.call for link in rest if link.name == name and link.call]
        nodes = [given, *(call.args[0] for call in calls if call.args)]
        node = next(filter(None, nodes), None)
        return str(self._frames.value(node, context)).lower() if node is not None else ""

    def _deleted(self, call: ast.Call, context: Context) -> list[Data]:
        """Return the folders, or the table, whose data a call deletes."""
        frames = self._frames
        match identifier(call.func):
            case "purge_s3_path":
                return frames.data(argument(call, "s3_path", 0), context)
            case "purge_table":
                return frames.table(call, 0, context)
            case "delete_objects" | "delete_object":
                return self._deleted_by_client(call, context)
            case "sql" if (query := frames.query(call, context)) and not query.reads:
                return [] if self._keeps_tables else list(map(table_of, query.replaces))
            case "delete":
                return self._deleted_by_resource(call, context)
        return []

    def _deleted_by_client(self, call: ast.Call, context: Context) -> list[Data]:
        bucket, key = argument(call, "Bucket", -1), argument(call, "Key", -1)
        listing = self._listing(argument(call, "Delete", -1) or key) if bucket else None
        if listing is not None:
            bucket, key = argument(listing, "Bucket", -1), argument(listing, "Prefix", -1)
        return self._folder(bucket, key, context) if bucket and key else []

    def _deleted_by_resource(self, call: ast.Call, context: Context) -> list[Data]:
        """Return what `s3.Bucket(b).objects.filter(Prefix=p).delete()` deletes, or a Path."""
        match call.args:
            case [ast.Call(func=function, args=[path, *_]), *_] if identifier(function) == "Path":
                return self._frames.data(path, context)
        for chain in self._chains.of(call):
            calls = {link.name: link.call for link in chain if link.call}
            if "filter" in calls and "Bucket" in calls:
                bucket = argument(calls["Bucket"], "name", 0)
                return self._folder(bucket, argument(calls["filter"], "Prefix", -1), context)
        return []

    def _folder(
        self, bucket: ast.expr | None, key: ast.expr | None, context: Context
    ) -> list[Data]:
        parts = [str(self._frames.value(part, context)) for part in (bucket, key) if part]
        return [Data(address_of("/".join(parts)))] if len(parts) == 2 else []

    def _listing(self, node: ast.expr | None, depth: int = 0) -> ast.Call | None:
        """Return the call that listed the keys in an expression."""
        for part in ast.walk(node) if node and depth < 5 else ():
            if isinstance(part, ast.Call) and identifier(part.func) in LISTINGS:
                return part
            if isinstance(part, ast.Name):
                for value in (*self._chains.values_of(part), *self._frames.place.looped(part)):
                    if (listing := self._listing(value, depth + 1)) is not None:
                        return listing
        return None


def _shown(data: Data) -> str:
    """Return what is deleted as people know it, or as the script says it."""
    if not HOLE.search(data.address):
        return data.address if data.is_table else f"s3://{data.address}/"
    return ast.unparse(data.node) if data.node else data.address.replace("\0", "")
