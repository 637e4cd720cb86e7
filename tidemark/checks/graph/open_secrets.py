"""Finds strings of templates that show a secret to everyone who can read the template."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.checks.graph.model import OpenSecret
from tidemark.checks.graph.resources import Resources
from tidemark.model.assembly.symbolic_names import is_intrinsic, parts_of_sub
from tidemark.model.plain_secrets import shows_secret

PROPERTY, INPUT = "connection property", "input"
IN_CONNECTION = (
    "the template would show it; put user and password into Secrets Manager and name the secret by "
    "SECRET_ID, or write {{resolve:secretsmanager:...}}"
)
IN_INPUT = (
    "the template and every event would show it; put it into Secrets Manager, and let the target "
    "read it by the name of the secret"
)


@dataclass(frozen=True)
class _SecretPlace:
    """The places where resources of a type have strings that everyone sees."""

    # With `is_resolved`, a dynamic reference or a parameter without echo is right: CloudFormation
    # puts the secret in while it deploys, and the service keeps it.

    kind: str
    of: str
    keys: tuple[str, ...]
    is_resolved: bool = False


PLACES = (
    _SecretPlace("AWS::Glue::Job", "argument", ("DefaultArguments", "NonOverridableArguments")),
    _SecretPlace("AWS::Glue::Trigger", "argument", ("Actions",)),
    _SecretPlace("AWS::Glue::Workflow", "run property", ("DefaultRunProperties",)),
    _SecretPlace("AWS::Glue::Connection", PROPERTY, ("ConnectionInput",), is_resolved=True),
    _SecretPlace("AWS::Events::Connection", PROPERTY, ("AuthParameters",), is_resolved=True),
    _SecretPlace("AWS::Events::Rule", INPUT, ("Targets",)),
    _SecretPlace("AWS::Scheduler::Schedule", INPUT, ("Target",)),
)
# References that CloudFormation fills later, or Glue from the secret of the connection, as in
# https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/glue_connection
RESOLVED = re.compile(
    r"\{\{resolve:(?:secretsmanager|ssm-secure):[^{}]*\}\}|(?:\w+=)?\$\{\w+\}(?!\w)"
)
# In authentication settings: a map whose every string is a secret, and a code that logs in once.
ALL_SECRET, CODE = "CustomAuthenticationCredentials", "AuthorizationCode"
PATHS = "InputPathsMap"  # of a rule: paths of strings in an event
GIVEN = "given"  # a string that only a deployment knows
HIDDEN = "password=given"  # one that CloudFormation hides, and the service shows


def read_open_secrets(resources: Resources) -> Iterator[OpenSecret]:
    """Yield the strings of jobs, workflows, triggers, connections and starts that show secrets."""
    for place in PLACES:
        for resource in resources.of(place.kind):
            excused = resource.known.get("notSecret", {})
            parameters = resources.templates[resource.stack].get("Parameters", {})
            for key in place.keys:
                for path, value in _strings(resource.properties.get(key), (key,)):
                    text = _literal(value, parameters, place)
                    # An export of another stack is a string of that stack.
                    whole = "" if isinstance(value, str) else resource.text(value)
                    is_password = ALL_SECRET in path or path[-1] == CODE
                    is_shown = shows_secret("password" if is_password else path[-1], text)
                    is_shown |= shows_secret("", _open(whole, place))
                    if is_shown and path[-1] not in excused:
                        yield OpenSecret(resource.at, place.of, path[-1])


def _strings(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each string or intrinsic below a value, with the names that lead to it."""
    match value:
        case {"Fn::If": [_, *branches]}:
            value = branches
        case Mapping() if not is_intrinsic(value):
            for key, item in value.items():
                yield from _strings(item if key != PATHS else None, (*path, str(key)))
            return
    if isinstance(value, list):
        for item in value:
            yield from _strings(item, path)
    elif value is not None:
        yield path, value


def _literal(value: Any, parameters: Mapping[str, Any], place: _SecretPlace) -> str:
    """Return the literal part of a string, without its references."""
    match value:
        case {"Ref": str(name)}:
            return _parameter(parameters.get(name), place)
        case {"Fn::Join": [separator, list(parts)]}:
            text = str(separator).join(_literal(part, parameters, place) for part in parts)
            return _open(text, place)
        case {"Fn::Sub": [str(text), dict(own)]}:
            known = {
                name: {"Default": _literal(value, parameters, place)} for name, value in own.items()
            }
            return _literal({"Fn::Sub": text}, {**parameters, **known}, place)
        case {"Fn::Sub": str(text)}:
            parts = parts_of_sub(text)
            return _open("".join(_literal(part, parameters, place) for part in parts), place)
        case {"Fn::FindInMap": _} | {"Fn::Base64": _}:
            return GIVEN
        case Mapping() | None:
            return ""
    return _open(str(value), place)


def _parameter(parameter: Mapping[str, Any] | None, place: _SecretPlace) -> str:
    """Return the known value of a template's parameter: that it is a secret, or its default."""
    if parameter is None:
        return ""
    if str(parameter.get("NoEcho")).lower() == "true" and not place.is_resolved:
        return HIDDEN
    return str(parameter.get("Default", "" if place.is_resolved else GIVEN))


def _open(text: str, place: _SecretPlace) -> str:
    """Return a string without references to secrets, where AWS resolves them."""
    return RESOLVED.sub("", text) if place.is_resolved else text
