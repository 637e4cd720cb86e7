"""Older names of commands and options work for one release, and say what they are now."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.commands.options import renamed
from tidemark.cli.main import main


def tidemark(*words):
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("up", "serve"),
        ("env", "env"),
        ("bucket", "bucket"),
        ("engine", "engine"),
        ("secret", "secret"),
        ("table", "table"),
        ("backup", "home backup"),
        ("restore", "home restore"),
        ("reset", "home reset"),
        ("accept-loss", "home accept-loss"),
    ],
)
def test_a_command_of_local_is_the_new_one_and_says_so(old, new):
    before = tidemark("local", old, "--help")
    now = tidemark(*new.split(), "--help")

    assert (before.exit_code, now.exit_code) == (0, 0)
    assert before.stderr.startswith(f"warning: `tidemark local {old}` is `tidemark {new}` now")
    assert before.stdout.partition("\n")[2] == now.stdout.partition("\n")[2]
    assert now.stderr == ""


def test_no_help_shows_the_old_group():
    assert "\n  local " not in tidemark("--help").output


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (("logs", "j", "--errors"), "--errors", "--stderr"),
        (("logs", "j", "--output"), "--output", "--stdout"),
        (("bookmark", "rewind", "j", "--run", "jr_1"), "--run", "--to"),
        (("watermark", "rewind", "j", "--run", "jr_1", "--reason", "r"), "--run", "--to"),
        (
            ("watermark", "rewind", "j", "--to-beginning", "--reason", "r"),
            "--to-beginning",
            "--to beginning",
        ),
        (("rewind", "j", "--to", "jr_1", "--plan"), "--plan", "--dry-run"),
        (("rewind", "undo", "--why", "w"), "--why", "--reason"),
        (("backfill", "j", "--from", "1", "--to", "2", "--plan"), "--plan", "--dry-run"),
        (("home", "backup", "missing/b", "--lake"), "--lake", "--with-lake"),
        (("init", "x/y", "--from", "flights"), "--from", "--example"),
        (("adopt", "j", "--out", "."), "--out", "--output"),
        (("prove", "--only", "nothing", "j"), "--only", "--kind"),
    ],
)
def test_an_old_option_is_the_new_one_and_says_so(words, old, new, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))

    result = tidemark(*words)

    assert f"warning: {old} is {new} now; " in result.stderr
    assert "No such option" not in result.stderr


def test_the_new_option_gets_the_value_of_the_old_one():
    taken = []

    @click.command()
    @click.option("--to", "run")
    @renamed("--run", "--to", "run")
    @renamed("--to-beginning", "--to beginning", "run", value="beginning")
    def move(**options):
        taken.append(options)

    for words in (["--to", "a"], ["--run", "a"], ["--to-beginning"], []):
        assert CliRunner().invoke(move, words).exit_code == 0

    assert taken == [{"run": "a"}, {"run": "a"}, {"run": "beginning"}, {"run": None}]


@pytest.mark.parametrize(
    ("words", "old"),
    [
        (("bookmark", "rewind", "j", "--run", "1", "--to", "beginning"), "--run"),
        (("watermark", "rewind", "j", "--run", "1", "--to-beginning", "--reason", "r"), "--"),
        (("prove", "--only", "crash", "--kind", "again", "j"), "--only"),
        (("adopt", "j", "--out", ".", "--output", "."), "--out"),
    ],
)
def test_an_old_form_beside_another_is_refused_and_none_is_dropped(words, old):
    result = tidemark(*words)

    assert result.exit_code == 2
    assert f"error: {old}" in result.stderr
    assert "is said otherwise too: give --" in result.stderr


def test_every_format_and_option_has_a_help_and_a_metavar_in_capitals():
    context = click.Context(main)
    bad = []

    def look(command, path):
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                name = param.metavar or ("" if param.is_flag else param.make_metavar(context))
                is_choice = isinstance(param.type, click.Choice)
                if not param.help or not (is_choice or name.upper() == name or "python:" in name):
                    bad.append((*path, param.opts[0], name))
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                look(command.get_command(context, name), (*path, name))

    look(main, ())

    allowed = {("new-job", "--kind"), ("rewind", "--to"), ("bookmark", "rewind", "--to")}
    allowed |= {("watermark", "rewind", "--to")}  # a word that is written as it is
    assert [option for option in bad if option[:-1] not in allowed] == []
