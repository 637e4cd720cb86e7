"""A group of commands that are imported when they are used, and shown by what they are for."""

import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import click

from tidemark.cli.error_lines import exit_line
from tidemark.cli.terminal import guard, hanging
from tidemark.cli.where import leave_output
from tidemark.errors import TidemarkError

UNTIL = "the old form goes with the next release"
SENTENCE = 200  # characters; a longer first sentence is cut
ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
UNBREAKABLE = "\N{NON-BREAKING HYPHEN}"

OURS = (ModuleNotFoundError, OSError, TidemarkError, KeyboardInterrupt, click.Abort)

_nowhere: list[TextIO] = []  # in place of closed streams, until the process ends


class TidemarkGroup(click.Group):
    """A command group that turns our errors into one line and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; exit 2 on wrong usage, 1 or 3 on failure, 130 when interrupted."""
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller, as with `>&-`
                _nowhere.append(Path(os.devnull).open("w"))  # noqa: SIM115 (for good)
                setattr(sys, name, _nowhere[-1])
        sys.stdout, sys.stderr = guard(sys.stdout), guard(sys.stderr)
        ctx.color = True  # else click takes away, where nobody looks, what is to be made visible
        try:
            return super().invoke(ctx)
        except OURS as error:
            ending = exit_line(error, ctx.invoked_subcommand)
            if ending is None:
                raise
            click.echo(hanging(ending[0]), err=True)
            # What a full disk refuses is left: Python would try again at its end, and exit 120.
            try:
                sys.stdout.flush()
            except OSError:
                leave_output()
            sys.exit(ending[1])


class WholeWords(click.HelpFormatter):
    """Breaks the lines of a help at spaces only: ``--job-bookmark-option`` stays whole."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", UNBREAKABLE))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write a list of names and what they are."""
        whole = [(name, text.replace("-", UNBREAKABLE)) for name, text in rows]
        super().write_dl(whole, col_max, col_spacing)

    def write(self, string: str) -> None:
        """Write what is wrapped already."""
        super().write(string.replace(UNBREAKABLE, "-"))


click.Context.formatter_class = WholeWords  # of all commands, also those in groups


class Verbs(click.Group):
    """A group of a few commands, each shown with its whole first sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and what each does."""
        write_section(self, ctx, formatter, "Commands", self.list_commands(ctx))


class NamesOrVerb(Verbs):
    """A command that takes names, and is also a group of a few commands, its verbs.

    The first word is a verb if it is the name of one, unless --to says that names follow: so jobs
    may have the names of verbs.
    """

    allow_interspersed_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the command, or leave all to a verb."""
        has_target = any(word.partition("=")[0] == "--to" for word in args)
        is_verb = bool(args) and args[0] in self.commands and not has_target
        click.Command.parse_args(self, ctx, [] if is_verb else args)
        ctx.args = list(args) if is_verb else []  # from here, completion goes on too
        return ctx.args

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb, or the command itself."""
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, command, rest = self.resolve_command(ctx, ctx.args)
        assert command is not None  # noqa: S101 (`parse_args` has seen it)
        with command.make_context(name, rest, parent=ctx) as verb:
            return command.invoke(verb)


class OldGroup(Verbs):
    """A group that is gone: each of its commands has another name, and says it."""

    def __init__(self, name: str, moved: Mapping[str, tuple[str, click.Command]]):
        """Make a group of commands and their new names, by their old ones."""
        commands = {old: command for old, (_, command) in moved.items()}
        super().__init__(name, commands=commands, hidden=True)
        self._names = {old: new for old, (new, _) in moved.items()}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, and say what it is called."""
        name, command, rest = super().resolve_command(ctx, args)
        if new := self._names.get(name or ""):
            click.echo(
                f"warning: `tidemark {self.name} {name}` is `tidemark {new}` now; {UNTIL}", err=True
            )
        return name, command, rest


def explain_options(command: click.Command) -> None:
    """Give options the texts that the docstring of their command has under `Args:`."""
    told, _, about = inspect.cleandoc(command.help or "").partition("\n\nArgs:\n")
    command.help = told or None
    texts = {name: " ".join(text.split()) for name, text in ARGUMENT.findall(about)}
    options = {option.name: option for option in command.params}
    for name, text in texts.items():
        if not isinstance(option := options.get(name), click.Option):
            raise LookupError(f"{command.name} has no option {name}, which its docstring explains")
        option.help = text
    for verb in command.commands.values() if isinstance(command, click.Group) else ():
        explain_options(verb)


def write_section(
    group: click.Group,
    ctx: click.Context,
    formatter: click.HelpFormatter,
    heading: str,
    names: Iterable[str],
) -> None:
    """Write a section of a help: some commands of a group."""
    commands = [(name, group.get_command(ctx, name)) for name in names]
    rows = [(name, command.get_short_help_str(SENTENCE)) for name, command in commands if command]
    with formatter.section(heading):
        formatter.write_dl(rows, col_max=max(map(len, group.list_commands(ctx))))


class Commands(TidemarkGroup):
    """A group whose commands are named by sections of the help; each is imported when it is used.

    Its ``sections`` hold the names of commands by heading. The last word of a heading is the module
    of ``tidemark.cli.commands`` that declares them.
    """

    def __init__(
        self, *arguments: Any, sections: Mapping[str, str], old: Mapping[str, str], **named: Any
    ):
        """Make the group of all commands of the sections; no help shows the `old` ones."""
        super().__init__(*arguments, **named)
        self._old = old
        self._sections = {heading: names.split() for heading, names in sections.items()}
        self._modules = {
            name: f"tidemark.cli.commands.{heading.split()[-1].lower()}"
            for heading, names in self._sections.items()
            for name in names
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return [*self._modules, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if no command has that name."""
        place = self._modules.get(cmd_name) or self._old.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(place)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        explain_options(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; an unknown one is shown with its nearest."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self._modules, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section with the commands in it and what each does."""
        for heading, names in self._sections.items():
            write_section(self, ctx, formatter, heading, names)
