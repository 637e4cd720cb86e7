"""Reads a CloudFormation template, JSON or YAML with short functions, as plain data.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError
from tidemark.extras import require

# Scalars that are not strings in YAML: their form, and the characters they may start with.
PLAIN = {
    "bool": (re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    "int": (re.compile(r"[-+]?(0|[1-9][0-9]*)$"), "-+0123456789"),
    "float": (re.compile(r"[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?$"), "-+0123456789"),
    "null": (re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    "merge": (re.compile(r"<<$"), "<"),
}
ALONE = ("Condition", "Ref")  # short functions whose long names have no Fn::
# Keys in place of resources; a deployment creates resources from them.
LATER = ("Fn::ForEach", "Fn::Transform")
# Properties that a template may leave empty.
SECTIONS = ("Conditions", "Mappings", "Outputs", "Parameters")
MAX_VALUES = 1_000_000  # CloudFormation takes templates of up to 1 MB
HOW = (
    "write one: aws cloudformation get-template --stack-name STACK --query TemplateBody "
    "--output text > FILE"
)


def read_template_file(file: Path) -> Mapping[str, Any]:
    """Return the template in a file."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"the file {file} does not exist; {HOW}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}; {HOW}") from error
    document = template_of(text, str(file))
    resources = document.get("Resources") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(resources, dict):
        raise UsageError(f"{file} is not a CloudFormation template: it has no Resources; {HOW}")
    _check_form(document, file)
    return {key: value for key, value in document.items() if key not in SECTIONS or value}


def _check_form(document: Mapping[str, Any], file: Path) -> None:
    """Raise unless resources and sections have their form; absent properties are allowed."""
    for id_, resource in document["Resources"].items():
        is_typed = isinstance(resource, dict) and isinstance(resource.get("Type"), str)
        is_formed = is_typed and isinstance(resource.get("Properties") or {}, dict)
        # A transform defines it: AWS::Include reads it from a file.
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/transform-aws-include.html
        is_included = isinstance(resource, dict) and "Fn::Transform" in resource
        is_later = str(id_).startswith(LATER) or (not is_typed and is_included)
        if not is_formed and not is_later:
            what = "Properties that are not a map" if is_typed else "no Type"
            raise UsageError(f"{file}: the resource {id_!r} has {what}; correct the template")
        if is_typed:
            resource["Properties"] = resource.get("Properties") or {}
    for section in SECTIONS:
        if not isinstance(document.get(section) or {}, dict):
            raise UsageError(f"{file}: {section} is not a map of names; correct the template")


def template_of(text: str, where: str) -> Any:
    """Parse a document, JSON or YAML."""
    try:
        document = json.loads(text)
        # Half a character in its strings raises UnicodeEncodeError.
        json.dumps(document, ensure_ascii=False).encode()
        return document
    except RecursionError as error:
        raise UsageError(f"{where} is nested too deeply; {HOW}") from error
    except UnicodeEncodeError as error:
        raise UsageError(f"{where} has text that is not Unicode: {error}; {HOW}") from error
    except ValueError:
        pass
    require("yaml")
    import yaml

    # Keys and all other strings stay strings: Yes may name a condition, and a date a version.
    loader: Any = type("Loader", (yaml.SafeLoader,), {})
    loader.yaml_implicit_resolvers = {}
    for tag, (form, first) in PLAIN.items():
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", form, list(first))
    loader.add_multi_constructor("!", _short_function)
    try:
        return _plain(yaml.load(text, loader), count())  # noqa: S506 (a SafeLoader: it makes plain data only)
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{where} is neither JSON nor YAML: {reason}; {HOW}") from error


def _plain(value: Any, number: Iterator[int]) -> Any:
    """Return a document of YAML with strings as keys, and what its aliases stand for."""
    if next(number) > MAX_VALUES:
        raise ValueError(f"it has more than {MAX_VALUES:,} values, by aliases of aliases")
    if isinstance(value, dict):
        return {str(key): _plain(member, number) for key, member in value.items()}
    return [_plain(item, number) for item in value] if isinstance(value, list) else value


def _short_function(loader: Any, name: str, node: Any) -> dict[str, Any]:
    """Return a function like !Ref as its long form has it."""
    argument = node.value
    if node.id != "scalar":
        argument = getattr(loader, f"construct_{node.id}")(node, deep=True)
    elif name == "GetAtt":
        argument = node.value.split(".", 1)
    return {name if name in ALONE else f"Fn::{name}": argument}
