"""Names resources that a template does not have yet: a deployment creates them."""

from collections.abc import Mapping
from typing import Any

from tidemark.adopt.model import Difference

SAM = "AWS::Serverless::"  # resources that a macro of AWS makes others of
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
    return Difference(
        f"template {stack}",
        ("Transform",),
        name,
        f"it makes resources, or changes {named or 'none of these'}, when a stack is deployed",
        "see whether it makes jobs or triggers; if so, give the template that it makes: "
        "aws cloudformation get-template --template-stage Processed",
    )


def later(stack: str, id_: str) -> Difference:
    """Return that a loop or a transform stands where resources do."""
    what = "a loop" if id_.startswith("Fn::ForEach") else "a transform"
    return Difference(
        f"template {stack}",
        ("Resources", id_),
        None,
        f"{what} makes resources when a stack is deployed",
        "give the template that it makes: aws cloudformation get-template --template-stage "
        "Processed",
    )


def not_at_hand(id_: str, place: str) -> Difference:
    """Return that the template of a nested stack is not read."""
    return Difference(
        f"nested stack {id_}",
        (place,),
        None,
        "it has its own template, which is missing here",
        "put it next to this one and name its file there, or adopt its jobs in another call, with "
        "that template",
    )
