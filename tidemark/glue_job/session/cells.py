"""Runs the code of a statement as a shell does: the value of a last expression is printed.

The magics `%matplot` and `%plotly` show a picture, which AWS's kernel for Jupyter leaves to Glue.

Source: https://github.com/apache/incubator-livy/blob/master/repl/src/main/resources/fake_shell.py
"""

import ast
import base64
import contextlib
import io
import linecache
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

MOST_CHARACTERS = 1_000_000  # of the output of a statement; the log of the run has it all
PICTURE_MAGIC = re.compile(r"^%(matplot|plotly)[ \t]+(\S.*)$", re.MULTILINE)
DRAW = "__tidemark_draw__"  # the name in a statement's namespace of what such a magic calls
Output = Mapping[str, Any]


class Shown:
    """What a statement has printed to stdout and stderr, in order, and its last picture.

    Of a long text the beginning is kept.
    """

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._parts: list[str] = []
        self._picture: dict[str, str] = {}
        self._room, self._left_out = MOST_CHARACTERS, 0

    def keep(self, text: str) -> None:
        """Keep what there is room for."""
        if self._room:
            self._parts.append(text[: self._room])
        self._left_out += max(len(text) - self._room, 0)
        self._room -= min(len(text), self._room)

    def __str__(self) -> str:
        """Return the text without the end of its last line, as AWS's Livy gives it."""
        text = "".join(self._parts)
        if self._left_out:
            text += f"\n… {self._left_out:,} more characters are in the log of the run"
        return text.rstrip()

    def draw(self, magic: str, drawn: Any) -> None:
        """Keep the picture of matplotlib's pyplot or figure, or of a figure of plotly."""
        if magic == "plotly":
            html = drawn.to_html(full_html=False, include_plotlyjs="cdn")
            self._picture = {"MimeType": "text/html", "Result": html}
            return
        image = io.BytesIO()
        figure = drawn.gcf() if hasattr(drawn, "gcf") else drawn
        figure.savefig(image, format="png")
        result = base64.b64encode(image.getvalue()).decode()
        self._picture = {"MimeType": "image/png", "Result": result}

    def data(self) -> dict[str, str]:
        """Return the members of StatementOutputData: AWS's kernel reads StdOut beside a picture."""
        text = str(self)
        return {"TextPlain": text, **({**self._picture, "StdOut": text} if self._picture else {})}


class _Stream(io.TextIOBase):
    """Passes texts on, and keeps them."""

    def __init__(self, behind: TextIO, shown: Shown) -> None:
        self._behind, self._shown = behind, shown

    def write(self, text: str) -> int:
        self._shown.keep(text)
        return self._behind.write(text)

    def flush(self) -> None:
        self._behind.flush()

    def fileno(self) -> int:
        return self._behind.fileno()  # for programs that the code starts

    def writable(self) -> bool:
        return True


@contextlib.contextmanager
def captured() -> Iterator[Shown]:
    """Keep what is printed, and pass it on: the log of the run has all of it."""
    shown, before = Shown(), (sys.stdout, sys.stderr)
    sys.stdout, sys.stderr = (_Stream(stream, shown) for stream in before)
    try:
        yield shown
    finally:
        sys.stdout, sys.stderr = before


def run_code(code: str, name: str, namespace: dict[str, Any]) -> None:
    """Run code in a namespace, and print the value of its last statement, if it has one.

    Tracebacks show its lines under the name.
    """
    tree = _parsed(code, name)
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), namespace)  # noqa: S102 (the user's code)
    if last is not None:
        interactive = ast.Interactive([last])
        exec(compile(interactive, name, "single", dont_inherit=True), namespace)  # noqa: S102


def _parsed(code: str, name: str) -> ast.Module:
    try:
        return ast.parse(code, name)
    except SyntaxError:  # a magic is one; in a text of the code it is not, and stays
        return ast.parse(PICTURE_MAGIC.sub(rf'{DRAW}("\1", \2)', code), name)


def failure(error: BaseException, name: str) -> Output:
    """Return the output of a statement that raised an error: its frames begin with the code's."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != name:
        frames = frames.tb_next
    told = traceback.format_exception(type(error), error, frames)
    return {
        "Status": "error",
        "ErrorName": type(error).__name__,
        "ErrorValue": _text(error),
        "Traceback": "".join(told).splitlines(),
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as other:  # noqa: BLE001 (the user's own class)
        return f"no text of it: {type(other).__name__} in its __str__"
