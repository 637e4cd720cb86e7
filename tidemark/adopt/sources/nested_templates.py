"""Finds the templates of nested stacks next to their own, and names what only a deployment makes.

The CDK names the file in the metadata or among its assets; templates that are to be packaged name
one where others have an address.

Sources:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-stack.html,
https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-resource-application.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.adopt.model import Difference
from tidemark.adopt.sources.template_file import read_template_file
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import NESTED_STACK, nested_template

# The property of a resource that names its own template.
PLACES = {NESTED_STACK: "TemplateURL", "AWS::Serverless::Application": "Location"}


@dataclass(frozen=True)
class Nested:
    """A template, and those of its nested stacks that are at hand, by logical id."""

    template: Mapping[str, Any]
    nested: Mapping[str, Nested] = field(default_factory=dict)

    def ids(self, prefix: str = "") -> Iterator[str]:
        """Yield the logical ids of all resources, below a prefix: `Nested.Job`."""
        yield from (f"{prefix}{id_}" for id_ in self.template.get("Resources", {}))
        for id_, inner in self.nested.items():
            yield from inner.ids(f"{prefix}{id_}.")


def with_nested(template: Mapping[str, Any], file: Path, around: tuple[Path, ...] = ()) -> Nested:
    """Return a template with those of its nested stacks that lie in its folder or below it."""
    trail = (*around, file.resolve())
    nested = {}
    for id_, resource in template.get("Resources", {}).items():
        inner = _file_of(resource, file.parent)
        if inner is None or not inner.resolve().is_relative_to(trail[0].parent):
            continue
        if inner.resolve() in trail:
            raise UsageError(
                f"{file}: the nested stack {id_!r} has the template {inner}, which holds itself; "
                "correct the template"
            )
        nested[str(id_)] = with_nested(read_template_file(inner), inner, trail)
    return Nested(template, nested)


def _file_of(resource: object, folder: Path) -> Path | None:
    """Return the file of the template of a nested stack; None if it is not at hand."""
    kind = resource.get("Type") if isinstance(resource, Mapping) else None
    if not isinstance(resource, Mapping) or kind not in PLACES:
        return None
    place = (resource.get("Properties") or {}).get(PLACES[kind])
    named = folder / place if isinstance(place, str) and "://" not in place else None
    for file in (nested_template(resource, folder) if kind == NESTED_STACK else None, named):
        with suppress(OSError):  # a name that is too long is one of nothing
            if file is not None and file.is_file():
                return file
    return None


SAM = "AWS::Serverless::"  # resources that a macro of AWS makes others of
GIVE_PROCESSED = (
    "give the template that it makes: aws cloudformation get-template --template-stage Processed"
)
MAX_NAMED = 20  # of the values that a macro may change


def transformed(stack: str, name: str, template: Mapping[str, Any]) -> Difference:
    """Return the resources that a macro may change: SAM's its own kinds, any other one all."""
    wanted = SAM if name.startswith(SAM.rstrip(":")) else ""
    ids = [
        str(id_)
        for id_, resource in template.get("Resources", {}).items()
        if isinstance(resource, Mapping) and str(resource.get("Type", "")).startswith(wanted)
    ]
    named = f"{', '.join(ids[:MAX_NAMED])}{', ...' if len(ids) > MAX_NAMED else ''}"
    why = f"it makes resources, or changes {named or 'none of these'}, when a stack is deployed"
    do = f"see whether it makes jobs or triggers; if so, {GIVE_PROCESSED}"
    return Difference(f"template {stack}", ("Transform",), name, why, do)


def later(stack: str, id_: str) -> Difference:
    """Return that a loop or a transform stands where resources do."""
    what = "a loop" if id_.startswith("Fn::ForEach") else "a transform"
    why = f"{what} makes resources when a stack is deployed"
    return Difference(f"template {stack}", ("Resources", id_), None, why, GIVE_PROCESSED)


def not_at_hand(id_: str, place: str) -> Difference:
    """Return that the template of a nested stack is not read."""
    why = "it has its own template, which is missing here"
    do = (
        "put it next to this one and name its file there, or adopt its jobs in another call, with "
        "that template"
    )
    return Difference(f"nested stack {id_}", (place,), None, why, do)
