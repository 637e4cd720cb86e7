"""The names that a shell completes: jobs, workflows and runs of the home, stages of `cdk.json`."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from tidemark.local_state.home_folder import DEFAULT_HOME


class KnownName(click.ParamType[str]):
    """A string whose possible values a shell knows; any other value is passed on as it is."""

    name = "text"

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        """Complete with what a function returns, which may fail."""
        self._names = names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin as the word does; none if they cannot be read."""
        names: list[str] = []
        # A shell that completes a word has no place for an error, whatever it is.
        with suppress(Exception):
            names = list(self._names())
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class KnownNameOrFile(KnownName):
    """A known name, or a file; a shell completes both."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin as the word does, and what makes the shell add files."""
        names = super().shell_complete(ctx, param, incomplete)
        return [*names, CompletionItem(incomplete, type="file")]


def _first_column(query: str) -> list[str]:
    """Return the first column of a query to the database of the home; nothing is created."""
    import sqlite3
    from contextlib import closing

    folder = Path(os.environ.get("TIDEMARK_HOME") or DEFAULT_HOME)
    place = (folder / "glue.sqlite").absolute().as_uri()
    # Without mode=ro, to press TAB would create a database.
    with closing(sqlite3.connect(f"{place}?mode=ro", uri=True)) as database:
        return [str(row[0]) for row in database.execute(query)]


def _stages() -> list[str]:
    context = json.loads(Path("cdk.json").read_text(encoding="utf-8"))["context"]
    return list(context["tidemark:stages"])


JOBS = "SELECT job_name FROM deployed_job UNION SELECT job_name FROM job_run"
WORKFLOWS = "SELECT name FROM glue_entity WHERE kind = 'workflow'"
RUNS = "SELECT run_id FROM job_run ORDER BY started_at_ms DESC LIMIT 50"
JOB, WORKFLOW, RUN = (KnownName(partial(_first_column, query)) for query in (JOBS, WORKFLOWS, RUNS))
STAGE, JOB_OR_FILE = KnownName(_stages), KnownNameOrFile(partial(_first_column, JOBS))
