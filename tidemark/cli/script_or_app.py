"""What several commands take: a script with its arguments, or a part of an app."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.checks.script.databases import database_writes_in
from tidemark.errors import UsageError
from tidemark.extras import require
from tidemark.glue_service.submission import Submission, read_submission

if TYPE_CHECKING:
    from tidemark.model.assembly.cloud_assembly import FileAsset


def submission_of(
    what: str | None, arguments: tuple[str, ...], workflow: str | None, *of_an_app: object
) -> Submission | None:
    """Return the submission if a script is named; None for a part of an app."""
    if what is not None and what.endswith(".py"):
        if workflow or any(of_an_app):
            raise UsageError("--workflow, --app and --context are for an app; a script needs none")
        submission = read_submission(Path(what), arguments)
        refuse_own_options(submission.script, arguments)
        return submission
    if what is not None and what.startswith("-"):
        name = click.get_current_context().info_name
        raise UsageError(f"no such option: {what}; tidemark {name} --help lists what there is")
    if arguments:
        raise UsageError(
            f"{' '.join(arguments)} after {what} is for a script; a job of the app gets the "
            "arguments of its trigger, and options of the command stand before its name"
        )
    return None


def refuse_own_options(script: Path, arguments: Sequence[str]) -> None:
    """Raise if an option of the active command stands after a script that does not name it.

    If the script names it, the option is the script's, and a note says so.
    """
    context = click.get_current_context()
    names = [name for param in context.command.get_params(context) for name in param.opts]
    own = {name for name in names if name.startswith("--")}
    misplaced = [name for word in arguments if (name := word.partition("=")[0]) in own]
    text = script.read_text(encoding="utf-8", errors="replace")
    for name in misplaced:
        bare = name.lstrip("-")
        if not re.search(rf"""["'](--)?{re.escape(bare)}["']""", text):
            raise UsageError(
                f"{name} stands after {script}, so it would be an argument of the script, which "
                f"does not name it; put it before the script: tidemark {context.info_name} "
                f"{name} … {script}"
            )
        click.echo(
            f"note: {name} stands after the script and goes to it; options of "
            f"tidemark {context.info_name} stand before the script",
            err=True,
        )


def check_page(page: Path | None) -> None:
    """Raise unless a page can be made, and written into its file; None is no page."""
    if page is not None:
        require("jinja2")
        if page.is_dir() or not page.absolute().parent.is_dir():
            raise UsageError(f"--html {page} is not a file in an existing folder; name one")


def scripts_of(assets: "Iterable[FileAsset]") -> dict[str, Path]:
    """Return the scripts of an app by the names that messages use."""
    return {
        asset.name or asset.source.name: asset.source
        for asset in assets
        if asset.source.suffix == ".py"
    }


def database_writes(
    scripts: Mapping[str, Path], *, is_without_jdbc: bool = False
) -> dict[str, tuple[int, ...]]:
    """Return for each script by its name the lines on which it writes to a database."""
    return {
        name: database_writes_in(
            script.read_text(encoding="utf-8", errors="replace"), is_without_jdbc=is_without_jdbc
        )
        for name, script in scripts.items()
    }
