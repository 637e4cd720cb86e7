"""What a tool takes, as JSON Schema made of the command's own options; and words made of values."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click
from jsonschema import Draft202012Validator

from tidemark.agents.tools import Tool
from tidemark.errors import UsageError

START, START_HELP = "start", "Show a long answer from this character on; its cut says which."
REASON = "reason"  # of an act; its plan needs none
DIGEST, DIGEST_HELP = "plan", "The digest that plan_{} has returned for the same arguments."
BRINGS_CODE = ("--additional-python-modules", "--conf", "--extra-", "--python-modules", "--user-")
MAX_ITEMS = 100
TEXT = {"type": "string", "maxLength": 2000, "pattern": r"^[^\u0000]*$"}  # as a word can be


def command_of(main: click.Group, words: Sequence[str]) -> click.Command:
    """Return the command that words name, such as ``["run", "show"]``."""
    command: click.Command = main
    for word in words:
        command = cast(click.Group, command).get_command(click.Context(command), word) or main
    return command


def parameters_of(command: click.Command) -> dict[str, click.Parameter]:
    """Return the options and arguments of a command by the names that tools give them."""
    return {_name(each).lstrip("-").replace("-", "_"): each for each in command.params}


def _name(parameter: click.Parameter) -> str:
    """Return ``--with-home`` of an option, and ``job`` of an argument."""
    return next((name for name in parameter.opts if name.startswith("--")), str(parameter.name))


def schema_of(
    tool: Tool, command: click.Command, leaves_out: Collection[str] = ()
) -> dict[str, Any]:
    """Return the JSON Schema of what a tool takes; anything else is refused."""
    declared = parameters_of(command)
    names = [name for name in tool.takes.split() if name not in leaves_out]
    properties = {name: _property(declared[name]) for name in names}
    required = [name for name in names if declared[name].required]
    if tool.kind == "act":
        told = DIGEST_HELP.format(tool.name)
        properties[DIGEST] = {"type": "string", "pattern": "^[0-9a-f]{32}$", "description": told}
        required += [DIGEST, *(name for name in names if name == REASON)]
    properties[START] = {"type": "integer", "minimum": 0, "description": START_HELP}
    schema = {"type": "object", "properties": properties, "required": required}
    return {**schema, "additionalProperties": False}


def _property(parameter: click.Parameter) -> dict[str, Any]:
    schema = _type(parameter)
    if parameter.multiple or parameter.nargs != 1:
        schema = {"type": "array", "items": schema, "maxItems": MAX_ITEMS}
    help_text = getattr(parameter, "help", None)
    return {**schema, "description": help_text} if help_text else schema


def _type(parameter: click.Parameter) -> dict[str, Any]:
    if getattr(parameter, "is_flag", False):
        return {"type": "boolean"}
    match parameter.type:
        case click.Choice(choices=choices):
            return {"enum": [str(choice) for choice in choices]}
        case click.IntRange(min=least, max=most):
            most_of_all = {"maximum": most} if most is not None else {}
            return {"type": "integer", "minimum": least, **most_of_all}
        case click.types.IntParamType():
            return {"type": "integer"}
        case click.types.FloatParamType():
            return {"type": "number"}
    return TEXT


def whole(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with ``3`` for ``3.0``, which JSON Schema does not tell apart."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in given.items()
    }


def check(schema: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise unless values are those that a schema allows.

    Raises:
        UsageError: a value is of another type, too much, unknown or missing.
    """
    for error in Draft202012Validator(schema).iter_errors(given):
        properties, name = schema["properties"], str([*error.absolute_path, ""][0])
        allowed = properties.get(name, f"the arguments {', '.join(properties)}")
        raise UsageError(f"{name}{': ' if name else ''}{error.message}; allowed: {allowed}")


def check_arguments(tool: Tool, given: Mapping[str, Any]) -> None:
    """Raise if a trial, which is no act, would get code of elsewhere by arguments of its script.

    Raises:
        UsageError: an argument names jars, modules or settings of Spark.
    """
    for text in given.get("arguments", ()) if tool.kind == "trial" else ():
        if text.startswith(BRINGS_CODE):
            raise UsageError(
                f"{text!r} may bring other code: {tool.name} takes none of {BRINGS_CODE}"
            )


def words_of(
    command: click.Command, given: Mapping[str, Any], takes: Collection[str], folder: Path
) -> list[str]:
    """Return values as words of a command line: options first, and then its arguments.

    Raises:
        UsageError: a name begins as an option does, or a file is outside of the folder.
    """
    options, arguments = list[str](), list[str]()
    for name, parameter in parameters_of(command).items():
        value = given.get(name) if name in takes else None
        if value in (None, False):
            continue
        values = [str(item) for item in (value if isinstance(value, list) else [value])]
        for text in values:
            _check_place(parameter, name, text, folder)
        if isinstance(parameter, click.Option):
            option = _name(parameter)
            options += [option if parameter.is_flag else f"{option}={text}" for text in values]
        else:
            _check_names(name, values, arguments)
            arguments += values
    return [*options, *arguments]


def _check_names(name: str, values: Sequence[str], before: Sequence[str]) -> None:
    if name == "arguments":  # of the script before them: they may begin as options do
        if values and not before:
            raise UsageError("arguments are those of a script: give the script too")
    elif unusable := [text for text in values if not text.strip() or text.startswith("-")]:
        raise UsageError(f"{name}: {unusable[0]!r} is not a name; allowed: no '-' at the beginning")


def _check_place(parameter: click.Parameter, name: str, text: str, folder: Path) -> None:
    is_script = name == "what" and text.endswith(".py")
    is_place = is_script or isinstance(parameter.type, click.Path)
    if is_place and not (folder / text).resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{name}: {text!r} is outside of {folder}; allowed: what is in that folder"
        )
