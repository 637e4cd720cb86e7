"""What the code of a statement shows: texts and pictures."""

from __future__ import annotations

import base64
from types import SimpleNamespace

import pytest

from tidemark.glue_job.session.cells import DRAW, captured, failure, run_code

FIGURE = SimpleNamespace(
    savefig=lambda file, **options: file.write(f"a {options['format']}".encode()),
    to_html=lambda full_html, include_plotlyjs: f"<div>{full_html} {include_plotlyjs}</div>",
)
PNG = {"MimeType": "image/png", "Result": base64.b64encode(b"a png").decode()}


def shown(code, **names):
    """Run a statement; return its Data."""
    with captured() as output:
        run_code(code, "<statement 1>", {DRAW: output.draw, **names})
    return output.data()


@pytest.mark.parametrize("code", ["print('a')\n%matplot plt", "%matplot plt\nprint('a')"])
def test_a_figure_is_a_picture_beside_the_text(code):
    plt = SimpleNamespace(gcf=lambda: FIGURE)

    assert shown(code, plt=plt) == {"TextPlain": "a", "StdOut": "a", **PNG}


def test_a_figure_by_its_own_name_and_the_last_picture_counts():
    drawn = shown("%plotly figures[0]\n%matplot figures[0]", figures=[FIGURE])

    assert drawn == {"TextPlain": "", "StdOut": "", **PNG}


def test_a_figure_of_plotly_is_html():
    drawn = shown("%plotly figure", figure=FIGURE)

    assert drawn["MimeType"] == "text/html"
    assert drawn["Result"] == "<div>False cdn</div>"


def test_a_magic_in_a_text_is_text():
    assert shown('"""\n%matplot plt\n"""') == {"TextPlain": r"'\n%matplot plt\n'"}


@pytest.mark.parametrize(
    ("code", "error", "line"),
    [("a = 1\n%matplot plt", NameError, 2), ("%timeit 1", SyntaxError, 1), ("(", SyntaxError, 1)],
)
def test_what_cannot_be_shown_is_an_error_of_its_line(code, error, line):
    with captured() as output, pytest.raises(error) as raised:
        run_code(code, "<statement 1>", {DRAW: output.draw})

    told = failure(raised.value, "<statement 1>")["Traceback"]
    assert f'  File "<statement 1>", line {line}' in "\n".join(told)
