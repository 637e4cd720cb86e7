"""Reads out of templates the texts that show a secret to everybody who may read a template."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.assembly.resources import METADATA, Templates, resources_of
from tidemark.assembly.symbolic_names import SymbolicNames, is_intrinsic, parts_of_sub
from tidemark.checks.graph.model import OpenSecret
from tidemark.checks.plain_secrets import shows_secret

# Where resources, or the actions of a trigger, have texts that everybody sees.
TEXTS = (
    ("AWS::Glue::Job", "argument", ("DefaultArguments", "NonOverridableArguments")),
    ("AWS::Glue::Trigger", "argument", ("Arguments",)),
    ("AWS::Glue::Workflow", "run property", ("DefaultRunProperties",)),
)
CONNECTION, PROPERTY = "AWS::Glue::Connection", "connection property"
IN_CONNECTION = (
    "the template would show it; put user and password into Secrets Manager and name the secret by "
    "SECRET_ID, or write {{resolve:secretsmanager:...}}"
)
# CloudFormation puts the secret in while it deploys; the template has the name only.
RESOLVED = re.compile(r"\{\{resolve:(?:secretsmanager|ssm-secure):[^{}]*\}\}")
# In authentication settings: a map in which every text is a secret, and a code that logs in once.
ALL_SECRET, CODE = "CustomAuthenticationCredentials", "AuthorizationCode"


def read_open_secrets(names: SymbolicNames, templates: Templates) -> Iterator[OpenSecret]:
    """Yield the texts of jobs, workflows, triggers and connections that look like secrets."""
    for kind, of, keys in TEXTS:
        for stack, id_, resource in resources_of(templates, kind):
            properties = resource.get("Properties", {})
            excused = resource.get("Metadata", {}).get(METADATA, {}).get("notSecret", {})
            actions = properties.get("Actions", [])
            for part in (properties, *(actions if isinstance(actions, list) else ())):
                for texts in (part.get(key) for key in keys):
                    for name, value in texts.items() if isinstance(texts, Mapping) else ():
                        # Of an intrinsic only the form tells: what its name means is not in it.
                        is_shown = (
                            shows_secret(name, value)
                            if isinstance(value, str)
                            else shows_secret("", names.text(stack, value))
                        )
                        if is_shown and name not in excused:
                            yield OpenSecret(f"{stack}/{id_}", of, name)
    yield from _in_connections(templates)


def _in_connections(templates: Templates) -> Iterator[OpenSecret]:
    for stack, id_, resource in resources_of(templates, CONNECTION):
        parameters = templates[stack].get("Parameters", {})
        given = resource.get("Properties", {}).get("ConnectionInput", {})
        for path, value in _texts(given, ()):
            text = RESOLVED.sub("", _literal(value, parameters))
            if shows_secret(_judged_as(path), text):
                yield OpenSecret(f"{stack}/{id_}", PROPERTY, path[-1])


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each text or intrinsic below a value, with the names that lead to it."""
    if isinstance(value, Mapping) and "Fn::If" in value:
        for branch in value["Fn::If"][1:]:
            yield from _texts(branch, path)
    elif isinstance(value, Mapping) and not is_intrinsic(value):
        for key, item in value.items():
            yield from _texts(item, (*path, str(key)))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, path)
    elif path:
        yield path, value


def _judged_as(path: tuple[str, ...]) -> str:
    """Return the name that tells whether a text of a connection is a secret."""
    return "password" if ALL_SECRET in path or path[-1] == CODE else path[-1]


def _literal(value: Any, parameters: Mapping[str, Any]) -> str:
    """Return what the template itself says of a text, without what it refers to."""
    match value:
        case {"Ref": str(name)}:
            return str(parameters.get(name, {}).get("Default", ""))
        case {"Fn::Join": [separator, list(parts)]}:
            return str(separator).join(_literal(part, parameters) for part in parts)
        case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), _]}:
            return "".join(_literal(part, parameters) for part in parts_of_sub(text))
        case Mapping() | None:
            return ""
    return str(value)
