"""The page of a difference: one HTML document that loads nothing."""

from tidemark.operate.diff.outcomes import Diff
from tidemark.report.page import environment, style


def diff_page(diff: Diff) -> str:
    """Return the page; all values of rows are escaped."""
    return environment().get_template("diff.html.jinja").render(diff=diff, style=style())
