"""Readable lists: a table if it fits, else one block per row; no name or id is ever broken."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tidemark.cli.terminal import in_a_line
from tidemark.model.messages import RETRY

GAP = 2
MIN_ID_LENGTH = len("jr_") + 8
WORD = re.compile(r"[0-9.,]+ s\b|\S+ → \S+|\S+")  # a number of seconds is one, and rows in → out


@dataclass(frozen=True)
class Listing:
    """Rows under headings, as wide as the console is.

    Cells fold at spaces and nowhere else. Where the widest words do not fit beside each other, each
    row is a block: its first cell, and below it a line for each of the others. A word that is wider
    than the console is written out; that takes a console with `soft_wrap`, as `Terminal` is.

    Attributes:
        headings: one per column.
        rows: the cells, as strings or styled.
        title: the heading; none if empty.
        whole: the columns whose cells never fold in the table, by number; so does the first.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str | Text]]
    title: str = ""
    whole: Sequence[int] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table or the blocks."""
        if self.title:
            yield Text(self.title, style="bold", no_wrap=True, overflow="ignore")
        rows = [[_text(cell) for cell in row] for row in self.rows]
        widths = self._widths(rows, options.max_width)
        if widths is not None:
            for row in ([Text(heading, style="bold") for heading in self.headings], *rows):
                yield from self._line(row, widths)
            return
        label = max(map(len, self.headings[1:]), default=0)
        for row in rows:
            yield from self._block(row, label, options.max_width)

    def _widths(self, rows: Sequence[Sequence[Text]], room: int) -> list[int] | None:
        cells = [
            [Text(heading), *(row[number] for row in rows)]
            for number, heading in enumerate(self.headings)
        ]
        full = [max(cell_len(cell.plain) for cell in column) for column in cells]
        widths = [
            full[number] if number in (0, *self.whole) else max(map(_widest_word, column))
            for number, column in enumerate(cells)
        ]
        spare = room - sum(widths) - GAP * (len(widths) - 1)
        if spare < 0:
            return None
        for number, wanted in enumerate(full):
            more = min(spare, wanted - widths[number])
            widths[number] += more
            spare -= more
        return widths

    def _line(self, row: Sequence[Text], widths: Sequence[int]) -> Iterator[Text]:
        folded = [_folded(cell, width) for cell, width in zip(row, widths, strict=True)]
        for parts in zip_longest(*folded, fillvalue=Text()):
            line = Text(no_wrap=True, overflow="ignore")
            for part, width in zip(parts, widths, strict=True):
                line.append_text(part).append(" " * (width - cell_len(part.plain) + GAP))
            line.rstrip()
            yield line

    def _block(self, row: Sequence[Text], label: int, room: int) -> Iterator[Text]:
        first, *others = row
        yield from map(_unbroken, _folded(first, room))
        for heading, cell in zip(self.headings[1:], others, strict=True):
            begin = f"  {heading:<{label}}{' ' * GAP}"
            for part in _folded(cell, room - len(begin)):
                line = Text(begin).append_text(part)
                line.rstrip()
                yield _unbroken(line)
                begin = " " * len(begin)


@dataclass(frozen=True)
class Sentence:
    """A string that folds at spaces only; takes a `Terminal`, like a listing."""

    text: str | Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines."""
        yield from map(_unbroken, _folded(_text(self.text), options.max_width))


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Return, for each run id, a beginning of it that no other has; commands take it.

    A retry has the id of the first attempt with an end of its own, so it is shown whole.
    """
    known = sorted(set(ids))
    # In this order no id shares more of its beginning with another than with a neighbour.
    shared = [0, *map(_shared_length, known, known[1:]), 0]
    return {
        id_: id_ if RETRY in id_ else id_[: max(MIN_ID_LENGTH, before + 1, after + 1)]
        for id_, before, after in zip(known, shared, shared[1:], strict=False)
    }


def _shared_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def short_ids_of_attempts(ids: Iterable[str]) -> dict[str, str]:
    """Return the same, and of a retry the beginning with its end, which `ids_meant` knows."""
    parts = {id_: id_.partition(RETRY) for id_ in ids}
    short = short_ids(first for first, _, _ in parts.values())
    return {id_: f"{short[first]}{mark}{end}" for id_, (first, mark, end) in parts.items()}


def _text(cell: str | Text) -> Text:
    # In one line: a name with the end of a line in it cannot forge a row.
    plain, style = (cell, "") if isinstance(cell, str) else (cell.plain, cell.style)
    shown = in_a_line(plain)
    return cell if isinstance(cell, Text) and shown == plain else Text(shown, style=style)


def _unbroken(text: Text) -> Text:
    text = text.copy()
    text.no_wrap, text.overflow = True, "ignore"
    return text


def _widest_word(text: Text) -> int:
    return max(map(cell_len, WORD.findall(text.plain)), default=0)


def _folded(text: Text, room: int) -> list[Text]:
    """Return the lines of a string, broken at spaces only; none if it is empty."""
    if cell_len(text.plain) <= room:
        return [text]
    lines, begin, end = [], 0, 0
    for word in WORD.finditer(text.plain):
        if end > begin and cell_len(text.plain[begin : word.end()]) > room:
            lines.append(text[begin:end])
            begin = word.start()
        end = word.end()
    return [*lines, text[begin:end]]
