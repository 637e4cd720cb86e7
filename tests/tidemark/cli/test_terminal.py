"""Names, values and log lines of others reach a terminal as text, through every command."""

from __future__ import annotations

import ast
import io
import json
import unicodedata
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidemark.cli.main import main
from tidemark.cli.terminal import Terminal, guard, hanging, in_a_line
from tidemark.cli.views.listing import Listing
from tidemark.model.messages import visible

# Sets the title, rings, clears the screen, turns text around, begins another line or message.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eturned\rforged\u2028line\x7f[red]:smile:"
COMMANDING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
KEPT = set("\n\t\u200c\u200d")
ROOT = Path(__file__).parents[3]

JOB = "count"
SCRIPT = f"""
import logging, sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

HOSTILE = {HOSTILE!r}
args = getResolvedOptions(sys.argv, ["JOB_NAME", "fails"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
frame = glue_context.create_dynamic_frame.from_options(
    "s3", {{"paths": ["s3://landing/in/"]}}, "json", transformation_ctx="ctx" + HOSTILE
)
print(HOSTILE, frame.count())
print(HOSTILE, file=sys.stderr)
glue_context.write_dynamic_frame.from_options(
    frame, "s3", {{"path": "s3://landing/out" + "\\x1b[2J" + "/"}}, "json"
)
if args["fails"] == "yes":
    raise ValueError("message " + HOSTILE + "\\nerror: forged")
job.commit()
"""

# Commands that look, with the arguments that show names of others.
LOOKS = {
    ("run", "show"): [["RUN"], ["FAILED"]],
    ("status",): [[]],
    ("runs",): [[], [JOB]],
    ("logs",): [[JOB], [JOB, "--run", "RUN"], [JOB, "--stderr"]],
    ("explain",): [
        [JOB],
        [JOB, "--run", "RUN"],
        [JOB, "--file", "s3://landing/in/" + HOSTILE.replace(":", "")],
    ],
    ("lineage",): [[], ["s3://landing/in/"]],
    ("bookmark", "show"): [[JOB]],
    ("watermark", "history"): [[JOB]],
    ("watermark", "show"): [[JOB]],
    ("gaps",): [[JOB]],
    ("grants",): [[]],
    ("doctor",): [[]],
    ("catalog", "list"): [[]],
    ("catalog", "show"): [["db.nothing" + HOSTILE]],
    ("catalog", "crawl"): [["s3://landing/in/", "--table", "db.t", "--dry-run"]],
    ("engine", "list"): [[]],
    ("env",): [[]],
    ("rewind",): [[JOB, "--to", "beginning", "--dry-run"]],
    ("rewind", "list"): [[]],
    ("rewind", "resume"): [[]],
    ("rewind", "undo"): [[HOSTILE, "--yes"]],
    ("bookmark", "rewind"): [[JOB, "--to", HOSTILE]],
    ("backfill",): [[JOB, "--from", HOSTILE, "--to", "2"]],
    ("schema", "show"): [[JOB], [HOSTILE]],
    ("schema", "history"): [[JOB], [HOSTILE]],
    ("schema", "diff"): [[JOB], [JOB, "--from", HOSTILE, "--to", HOSTILE]],
    ("schema", "accept"): [[JOB, "--reason", "why", "--target", HOSTILE]],
    ("lint",): [["SCRIPT"], [HOSTILE]],
    ("trigger",): [[HOSTILE], []],
    ("resume",): [[], ["--workflow", HOSTILE]],
    ("stop",): [[HOSTILE], [JOB, "--run", HOSTILE]],
    ("submit",): [[HOSTILE]],
    ("snapshot",): [["--app", HOSTILE]],
    ("state", "check"): [["--app", HOSTILE]],
    ("prove",): [[HOSTILE]],
    ("compare-versions",): [[HOSTILE]],
    ("home", "accept-loss"): [[HOSTILE, "--yes"]],
    ("bucket",): [[HOSTILE]],
    ("home", "restore"): [[HOSTILE]],
    ("table",): [[HOSTILE, "--key", "k"]],
    ("catalog", "drop"): [["db." + HOSTILE]],
    ("catalog", "put"): [[HOSTILE]],
    ("catalog", "sync"): [["db." + HOSTILE]],
    ("bookmark", "reset"): [[HOSTILE, "--yes"]],
    ("watermark", "rewind"): [[HOSTILE, "--to", "beginning"]],
}
# They write what the user names, or serve; names of others come to them through the same door.
OTHERS = {
    *(
        (name,)
        for name in (
            "init",
            "new-job",
            "adopt",
            "deploy",
            "destroy",
            "diff",
            "report",
            "completion",
            "mcp",
            "notebook",
        )
    ),
    *(("event", "put"), ("state", "carry-over"), ("state", "write"), ("secret", "put")),
    *(("serve",), ("home", "backup"), ("home", "reset")),
    *(("engine", name) for name in ("add", "remove")),
}


def commanding(text: str) -> set[str]:
    """Return the characters of a text that a terminal obeys."""
    return {c for c in text if unicodedata.category(c) in COMMANDING and c not in KEPT}


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Return the paths of all commands below one that do something themselves."""
    if not isinstance(command, click.Group):
        return {path}
    context = click.Context(command)
    below = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return set().union(*(leaves(part, (*path, name)) for name, part in below.items() if part))


def test_each_command_is_tried_or_named_here():
    assert leaves(main) | {("rewind",)} == set(LOOKS) | OTHERS


@given(st.text(st.characters(), max_size=40))
def test_what_is_shown_commands_nothing_and_stays_itself_if_shown_again(text):
    shown = visible(text)

    assert not commanding(shown)
    assert visible(shown) == shown


@given(st.text(st.characters(), max_size=40))
def test_json_that_was_made_visible_says_the_same(text):
    document = json.dumps({text: text}, ensure_ascii=False)

    assert json.loads(visible(document)) == {text: text}


def test_a_name_stays_in_its_line_and_a_message_keeps_its_margin():
    assert in_a_line("a\nb\tc\r\nd") == "a\\nb\\tc\\nd"
    assert hanging("a\nerror: b\n  c") == "a\n  error: b\n  c"


def test_a_row_of_a_list_is_one_line_whatever_its_cells_hold(capsys):
    rows = [("new\nforged  yes", Text("1\x1b[2J", style="green"))]

    Terminal(width=80).print(Listing(("file", "read"), rows), soft_wrap=True)

    _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["new\\nforged", "yes", "1\\u001b[2J"]]


def test_a_terminal_keeps_styles_of_ours_and_cursor_moves(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stdout", guard(stream))
    terminal = Terminal(force_terminal=True, width=40, color_system="standard")

    terminal.print(Text("done\x1b[2J", style="green"))
    table = Table.grid()
    table.add_row(HOSTILE)
    with Live(console=terminal, get_renderable=lambda: table, transient=True):
        print(HOSTILE)  # noqa: T201 (as a library would)

    assert "\x1b[32mdone\\u001b[2J\x1b[0m" in stream.getvalue()
    assert "\x1b]0;" not in stream.getvalue()
    assert "\x1b[?25l" in stream.getvalue()  # the cursor is hidden while a table is drawn


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_click_and_print_go_through_the_door_in_every_encoding(encoding, monkeypatch):
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", guard(stream))

    click.echo(HOSTILE, color=True)
    print(HOSTILE)  # noqa: T201 (as a library would)
    stream.flush()

    assert b"\\u001b]0;owned\\u0007" in data.getvalue()
    assert not {0x1B, 0x07, 0x0D, 0x7F} & set(data.getvalue())


def test_no_other_module_of_the_commands_makes_a_console():
    modules = [path for path in (ROOT / "tidemark").rglob("*.py") if path.name != "terminal.py"]
    calls = [
        path
        for path in modules
        if "Console" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Console"
    ]

    assert not calls


@pytest.fixture(scope="module")
def hostile_home(tmp_path_factory):
    """A home whose objects, logs, contexts and errors want to command a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    landing = folder / "home" / "lake" / "landing" / "in"
    landing.mkdir(parents=True)
    for name in (HOSTILE.replace(":", ""), "new\nforged.json   no   0  already read"):
        (landing / f"{name}.json").write_text('{"a": 1}\n')
    (folder / f"{JOB}.py").write_text(SCRIPT)
    environment = {"TIDEMARK_HOME": str(folder / "home"), "COLUMNS": "120"}
    for fails in ("no", "yes"):
        words = ["submit", str(folder / f"{JOB}.py"), "--job-bookmark-option"]
        done = CliRunner().invoke(
            main, [*words, "job-bookmark-enable", "--fails", fails], env=environment
        )
        assert done.exit_code == (fails == "yes"), done.output
    return folder, environment


def invoke(hostile_home: tuple[Path, dict[str, str]], words: list[str]) -> Result:
    folder, environment = hostile_home
    runs = {}
    if {"RUN", "FAILED"} & set(words):
        listed = CliRunner().invoke(main, ["runs", JOB, "--format", "json"], env=environment)
        runs = {run["state"]: run["run_id"] for run in json.loads(listed.output)}
    meant = {
        "RUN": runs.get("SUCCEEDED"),
        "FAILED": runs.get("FAILED"),
        "SCRIPT": str(folder / f"{JOB}.py"),
    }
    return CliRunner().invoke(main, [meant.get(word) or word for word in words], env=environment)


@pytest.mark.spark
def test_a_hostile_home_commands_no_terminal(hostile_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, looks in LOOKS.items():
        outputs = [invoke(hostile_home, [*command, *rest]).output for rest in looks]

        assert any(outputs), command
        for output in outputs:
            assert not commanding(output), output.encode("unicode_escape").decode()
            lines = output.splitlines()
            forged = [line for line in lines if line.startswith(("forged", "error: f"))]
            assert not forged or command == ("logs",)  # the lines of logs are those of the script
