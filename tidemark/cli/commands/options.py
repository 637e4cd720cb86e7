"""What several commands share: their options, and that what they do is loaded when called."""

import functools
import getpass
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from tidemark.cli.commands.known_names import STAGE
from tidemark.cli.environment import ask_for_s3
from tidemark.cli.group import UNTIL
from tidemark.cli.where import Where, looking
from tidemark.errors import UsageError

Command: TypeAlias = Callable[..., None]
FILE = click.Path(path_type=Path)
SCRIPT_ARGUMENTS = {"ignore_unknown_options": True, "allow_interspersed_args": False}
RUN_FORMS = "an id, a prefix of one, or a number # of `tidemark bookmark show`"
APP_HELP = (
    "Folder of a cloud assembly, such as cdk.out, to use instead of synthesizing the app first."
)
CONTEXT_HELP = "CDK context for the synthesis, such as stage=prod."
DEPLOYED_HELP = (
    "On AWS instead of this machine: what the app of this stage has deployed, in its account and "
    "region, with your credentials."
)
DEPLOYED_CONTEXT_HELP = (
    "With --deployed: CDK context for the synthesis, in addition to stage=STAGE."
)
START_CONTEXT_HELP = "CDK context for the synthesis; that of the last one if not given."
LAST_APP_HELP = (
    "Cloud assembly to use instead of cdk.out, which the last run left here, or with --deployed "
    "instead of synthesizing the app."
)
AS_DEPLOYED_HELP = "On this machine: run the code that was deployed last, not the code on disk."
ISOLATED_HELP = "Start a JVM for each job run; borrow none that ran another before."
TASK_HELP = (
    "Call a function for a task of a state machine that is on AWS only, by the name of its state: "
    "Notify=python:jobs.notify; repeatable."
)
LINEAGE_HELP = "Send an OpenLineage event of each job run that starts or ends there."
SINCE_HELP = "Leave out what started before: 30m, 12h, 7d, or a date in UTC."
S3_SEMANTICS_HELP = (
    "Let s3:// be as S3 is: objects appear whole when their upload ends, and a rename copies and "
    "deletes each object. Without, a bucket is a folder of this machine."
)
EXECUTORS_HELP = (
    "Run each job on so many processes of this machine, as on a cluster. Without, the process of "
    "the driver does all."
)
MASTER_HELP = "Run each job on a cluster that exists, such as spark://host:7077."


def renamed(
    old: str, new: str, name: str, value: Any = None, **attributes: Any
) -> Callable[[Command], Command]:
    """Return what adds an older option to a command, hidden; it counts as the new one.

    `name` is the parameter of the new one. It gets `value`, where the old one is a flag, else what
    the old one was given.
    """
    parameter = f"old_{old.strip('-').replace('-', '_')}"
    attributes |= {"is_flag": True} if value is not None else {}

    def with_old(command: Command) -> Command:
        @functools.wraps(command)
        def call(*arguments: Any, **options: Any) -> None:
            given = options.pop(parameter)
            if given:
                click.echo(f"warning: {old} is {new} now; {UNTIL}", err=True)
                context = click.get_current_context()
                if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    raise UsageError(f"{old} is said otherwise too: give {new} alone")
                context.set_parameter_source(name, ParameterSource.COMMANDLINE)
                options[name] = given if value is None else value
            command(*arguments, **options)

        return click.option(old, parameter, hidden=True, **attributes)(call)

    return with_old


def act(place: str) -> Callable[[Command], Command]:
    """Give a command its act, ``module.function`` of the CLI, which is imported when it is called.

    Imports are what a short command waits for: the help of a command needs none of its act's.
    """
    module, _, name = place.partition(".")

    def with_act(command: Command) -> Command:
        @functools.wraps(command)
        def call(*arguments: Any, **options: Any) -> None:
            getattr(importlib.import_module(f"tidemark.cli.{module}"), name)(*arguments, **options)

        vars(call)["act"] = place
        return call

    return with_act


def looks(place: str) -> Callable[[Command], Command]:
    """Give a command that changes nothing its act; see `looking`."""

    def with_act(command: Command) -> Command:
        acts = act(place)(command)

        @functools.wraps(acts)
        def call(*arguments: Any, **options: Any) -> None:
            with looking():
                acts(*arguments, **options)

        return call

    return with_act


def shows(place: str) -> Callable[[Command], Command]:
    """Give a command that changes nothing its act, and the option --format."""
    return lambda command: table_or_json(looks(place)(command))


def output_format(text: str = "Print a table for people, or JSON.") -> Callable[[Command], Command]:
    """Return the option --format, of a table or JSON, which a command gets as ``output``."""
    choice = click.Choice(["table", "json"])
    return click.option("--format", "output", type=choice, default="table", help=text)


def limit(text: str, default: int = 20) -> Callable[[Command], Command]:
    """Return the option --limit."""
    return click.option(
        "--limit",
        type=click.IntRange(1),
        default=default,
        show_default=True,
        metavar="N",
        help=text,
    )


table_or_json = output_format()
changed_or_json = output_format("Print what was done in lines for people, or as JSON.")
yes = click.option("--yes", is_flag=True, help="Do not ask.")
ask_on_aws = click.option("--yes", is_flag=True, help="With --deployed: do not ask.")
actor = click.option(
    "--actor",
    metavar="NAME",
    default=getpass.getuser,
    help="Who asks; your user name if not given.",
)


def reason(command: Command) -> Command:
    """Add --reason, which a command gets as ``why``."""
    option = click.option("--reason", "why", metavar="TEXT", help="Reason, for the record.")
    return option(renamed("--why", "--reason", "why")(command))


def dry_run(text: str) -> Callable[[Command], Command]:
    """Return the option --dry-run."""

    def with_option(command: Command) -> Command:
        option = click.option("--dry-run", is_flag=True, help=text)
        return option(renamed("--plan", "--dry-run", "dry_run", value=True)(command))

    return with_option


def _app(text: str) -> Callable[[Command], Command]:
    return click.option("--app", type=FILE, metavar="DIR", help=text)


def _context(text: str) -> Callable[[Command], Command]:
    return click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=text)


def app_and_context(command: Command) -> Command:
    """Add the options of a command that synthesizes the app, or reads an assembly."""
    return _app(APP_HELP)(_context(CONTEXT_HELP)(command))


def _target(
    *takes: str, app_help: str = APP_HELP, context_help: str = DEPLOYED_CONTEXT_HELP
) -> Callable[[Command], Command]:
    """Return what adds --deployed, --app and --context to a command, which gets a ``where``."""

    def with_options(command: Command) -> Command:
        @functools.wraps(command)
        def with_where(
            *arguments: Any,
            deployed: str | None,
            app: Path | None,
            context: tuple[str, ...],
            as_deployed: bool = False,
            **options: Any,
        ) -> None:
            where = Where(deployed, app, context, as_deployed, takes)
            command(*arguments, where=where, **options)

        stage = click.option("--deployed", metavar="STAGE", type=STAGE, help=DEPLOYED_HELP)
        return stage(_app(app_help)(_context(context_help)(with_where)))

    return with_options


where_options = _target()
app_options = _target("app", app_help=LAST_APP_HELP)
run_options = _target("app", "context", context_help=CONTEXT_HELP)
look_options = _target("app", "context", context_help=START_CONTEXT_HELP)


def start_options(command: Command) -> Command:
    """Add the options of a command that starts runs, which gets them as ``where``."""
    return look_options(click.option("--as-deployed", is_flag=True, help=AS_DEPLOYED_HELP)(command))


def executors_options(command: Command) -> Command:
    """Add --executors and --master, whose values `with_executors` takes."""
    executors = click.option("--executors", metavar="N", help=EXECUTORS_HELP)
    return executors(click.option("--master", metavar="URL", help=MASTER_HELP)(command))


def s3_semantics_option(*, expose_value: bool) -> Callable[[Command], Command]:
    """Return the option that gives the lake S3's semantics as long as the command works."""

    def ask(context: click.Context, _: click.Parameter, asked: bool) -> bool:
        if asked:
            ask_for_s3(context)
        return asked

    return click.option(
        "--s3-semantics",
        is_flag=True,
        callback=ask,
        expose_value=expose_value,
        help=S3_SEMANTICS_HELP,
    )
