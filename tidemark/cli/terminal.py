"""The one door to a terminal: names, values and log lines of others cannot command it.

A landing bucket, a log and a job's error are written by others. A terminal obeys control
characters in them: it clears the screen, sets the title, fills the clipboard, turns text around.
`Commands` puts a `VisibleStream` in place of stdout and stderr, so whatever prints goes through
`visible`; styles and cursor moves of ours come from a `Terminal`, which alone writes past it.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import IO, Any, TextIO, cast

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from tidemark.model.clock import time_of
from tidemark.model.messages import visible


def in_a_line(text: str) -> str:
    r"""Return the same for a name or a value within a line: it cannot begin another one.

    Example:
        >>> in_a_line("a\nforged")
        'a\\nforged'
    """
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def hanging(text: str) -> str:
    r"""Return a message whose later lines are indented: they cannot pass for messages of ours.

    Example:
        >>> hanging("a.json cannot be read\nerror: forged")
        'a.json cannot be read\n  error: forged'
    """
    return re.sub(r"(?<!\A)\n(?=\S)", "\n  ", visible(text))


class VisibleStream:
    """Writes to a stream, with control characters made visible."""

    def __init__(self, stream: TextIO) -> None:
        """Take the stream; `within` has it for what a script of the user prints itself."""
        self.within = stream

    def write(self, text: str) -> int:
        """Write a text, and return its length."""
        self.within.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each text."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # click writes to it where the encoding is ASCII
            raise AttributeError(name)
        return getattr(self.within, name)


def behind(stream: IO[str]) -> IO[str]:
    """Return the stream that a `VisibleStream` writes to; another one as it is."""
    return getattr(stream, "within", stream)


class Terminal(Console):
    """A console that shows texts as they are: without markup, emoji, folds or control characters.

    Its keywords are those of ``rich.console.Console``.
    """

    def __init__(self, **options: Any) -> None:
        """Make the console; a style is asked for by `Text`, never by brackets in a text."""
        plain = {"markup": False, "emoji": False, "highlight": False, "soft_wrap": True}
        super().__init__(**{**plain, **options})

    @property
    def file(self) -> IO[str]:
        """The stream itself: `render` has looked at all that is written."""
        return behind(super().file)

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments, with the control characters of their texts made visible."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text), style)


def print_json(document: Any, default: Callable[[Any], str] | None = None) -> None:
    """Print plain JSON values; ``default`` says what other values are, if there are any."""
    click.echo(json.dumps(document, indent=2, default=default))


def print_lines(output: str, document: Any, lines: Iterable[str]) -> None:
    """Print a document as JSON if the ``output`` is to be so, else lines for people."""
    if output == "json":
        print_json(document)
        return
    for line in lines:
        click.echo(line)


def moment_json(at_ms: int) -> str:
    """Return epoch milliseconds as ISO 8601, in UTC."""
    return time_of(at_ms).isoformat(timespec="milliseconds")


def guard(stream: TextIO) -> TextIO:
    """Return a stream for stdout or stderr that writes to ``stream``; one that does so as it is."""
    guarded = stream if isinstance(stream, VisibleStream) else VisibleStream(stream)
    return cast(TextIO, guarded)
