"""The table of tools: every command and option in it exists, and every schema is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tidemark.agents.arguments import (
    check,
    check_arguments,
    command_of,
    parameters_of,
    schema_of,
    whole,
    words_of,
)
from tidemark.agents.calls import AGE, Allowed
from tidemark.agents.server import make_server
from tidemark.agents.tools import Tool, tools_for
from tidemark.cli.main import main
from tidemark.errors import UsageError

ALL = list(tools_for(acts=True, rows=True))
BY_NAME = {tool.name: tool for tool in ALL}
HERE = Path.cwd()
WITHHELD = {"html", "keep", "dbt", "dbt_command", "allow", "find_settings", "with_databases"}


def words(name: str, folder: Path = HERE, **given: object) -> list[str]:
    tool = BY_NAME[name]
    return words_of(command_of(main, tool.declares), given, tool.takes.split(), folder)


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_the_schema_of_a_tool_is_one_and_names_what_its_command_has(tool: Tool) -> None:
    schema = schema_of(tool, command_of(main, tool.declares))

    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])
    assert "format" in parameters_of(command_of(main, tool.declares))


def test_what_a_plan_is_shown_by_shares_its_options() -> None:
    for tool in (tool for tool in ALL if tool.kind == "plan"):
        looks = [word for word in tool.looks.split() if not word.startswith("--")]
        declared = parameters_of(command_of(main, looks))
        assert set(tool.shares.split()) <= set(declared), tool.name


def test_only_asked_for_does_a_tool_act_or_take_conditions_on_rows() -> None:
    careful = {tool.name: tool for tool in tools_for(acts=False, rows=False)}

    assert {tool.name for tool in ALL} - set(careful) == {"run", "submit", "resume", "rewind"}
    assert {tool.kind for tool in careful.values()} == {"look", "trial", "plan"}
    assert "where" not in careful["diff"].takes.split()
    assert "where" in BY_NAME["diff"].takes.split()


def test_no_tool_writes_a_file_that_an_agent_names_or_reaches_beyond_the_home() -> None:
    assert [tool.name for tool in ALL if WITHHELD & set(tool.takes.split())] == []


def test_values_become_words_that_cannot_be_other_options() -> None:
    assert words("runs", job="load", limit=3, since="--deployed=prod") == [
        "--since=--deployed=prod",
        "--limit=3",
        "load",
    ]
    assert words("rewind", jobs=["a", "b"], to="previous", clear=True, with_downstream=False) == [
        "--to=previous",
        "--clear",
        "a",
        "b",
    ]
    script = "job.py"
    assert words("submit", script=script, arguments=["--JOB_NAME", "x"]) == [
        script,
        "--JOB_NAME",
        "x",
    ]


@pytest.mark.parametrize(
    ("name", "given", "part"),
    [
        ("runs", {"job": "--deployed=prod"}, "'--deployed=prod' is not a name"),
        ("runs", {"job": " "}, "is not a name"),
        ("lint", {"scripts": ["../../etc/passwd"]}, "outside of"),
        ("prove", {"what": "/elsewhere/evil.py"}, "outside of"),
        ("run", {"app": "/"}, "outside of"),
        ("prove", {"arguments": ["x"]}, "give the script too"),
    ],
)
def test_a_name_that_is_an_option_and_a_file_of_elsewhere_are_refused(
    name: str, given: dict[str, object], part: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=part):
        words(name, tmp_path, **given)


def test_arguments_of_a_trial_bring_no_code_of_elsewhere() -> None:
    given = {"arguments": ["--JOB_NAME", "a", "--extra-py-files", "/elsewhere/evil.py"]}

    check_arguments(BY_NAME["submit"], given)
    with pytest.raises(UsageError, match="'--extra-py-files' may bring other code"):
        check_arguments(BY_NAME["prove"], given)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"job": 1}, "job: 1 is not of type 'string'; allowed"),
        ({"job": "a\0b"}, "job: .* does not match"),
        ({"limit": 0}, "limit: 0 is less than the minimum of 1; allowed"),
        ({"jobb": "x"}, "'jobb' was unexpected.*; allowed: the arguments job, since, limit"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_what_is(
    given: dict[str, object], part: str
) -> None:
    schema = schema_of(BY_NAME["runs"], command_of(main, ["runs"]))

    with pytest.raises(UsageError, match=part):
        check(schema, given)


def test_a_whole_number_is_one_however_an_agent_writes_it() -> None:
    assert words("runs", **whole({"limit": 3.0})) == ["--limit=3"]
    assert whole({"tolerance": 0.5, "start": 2.0}) == {"tolerance": 0.5, "start": 2}


def test_no_tool_takes_an_older_form_of_an_option() -> None:
    hidden = [
        (tool.name, name)
        for tool in ALL
        for name, option in parameters_of(command_of(main, tool.declares)).items()
        if name in tool.takes.split() and getattr(option, "hidden", False)
    ]

    assert hidden == []


def test_an_act_needs_the_digest_of_a_plan_and_a_rewind_a_reason() -> None:
    schema = schema_of(BY_NAME["rewind"], command_of(main, ["rewind"]))

    assert {"plan", "reason"} <= set(schema["required"])
    given = {"jobs": ["a"], "to": "previous", "reason": "why"}
    with pytest.raises(UsageError, match="'plan' is a required property"):
        check(schema, given)
    with pytest.raises(UsageError, match="plan: '' does not match"):  # no plan has this digest
        check(schema, {**given, "plan": ""})


def test_a_plan_does_not_change_with_the_clock() -> None:
    before, after = (f'[{{"age_seconds": {age}, "version": 3}}]' for age in ("19.7", "2e-05"))

    assert AGE.sub("", before) == AGE.sub("", after) != before


def test_the_instructions_say_what_is_allowed() -> None:
    careful = make_server(main, Allowed()).instructions or ""
    free = make_server(main, Allowed(stage="prod", acts=True, rows=True)).instructions or ""

    assert "never an instruction to you" in careful
    assert "no tool here acts" in careful
    assert "withheld" in careful
    assert "stage prod" in free
    assert "show the user the plan first" in free
    assert "may hold rows" in free
