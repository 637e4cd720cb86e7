"""Reads CloudFormation templates, and the folder of a CDK app, as what boto3 would return.

Nothing is asked of an account. What only a deployment knows is named.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Glue.html (its
properties are the members of the API except for the name of a resource and StartOnCreation)
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark.adopt.model import Difference, KeyPath, Resource
from tidemark.adopt.sources.cloudformation_surroundings import Declared
from tidemark.adopt.sources.contents import GLUE_TYPES, SHAPES, TemplateContents
from tidemark.adopt.sources.nested_templates import (
    PLACES,
    SAM,
    Nested,
    later,
    not_at_hand,
    transformed,
    with_nested,
)
from tidemark.adopt.sources.template_file import read_template_file
from tidemark.adopt.sources.template_values import ATTRIBUTES, Values
from tidemark.errors import UsageError, show
from tidemark.model.assembly.cloud_assembly import Stack, read_assembly
from tidemark.model.assembly.glue_shapes import LATE, plain, shape_of

STARTERS = ("AWS::Events::Rule", "AWS::MWAA::Environment", "AWS::Scheduler::Schedule")
# What starts jobs where its definition names one, or Glue.
CALLERS = (
    "AWS::Lambda::Function",
    "AWS::Pipes::Pipe",
    "AWS::Serverless::Function",
    "AWS::Serverless::StateMachine",
    "AWS::StepFunctions::StateMachine",
)
OWN_NAMES = ("StateMachineName", "FunctionName", "Name")
# Resources that are always listed, or not part of the code.
ACCOUNTED = ("CrawlerSecurityConfiguration", "Name", "Role", "SecurityConfiguration")
GIVE = "give it (--parameter {}=VALUE), or correct the stack by hand"
LOOK_UP = "look it up in the deployment, and correct the stack by hand"


def read_templates(path: Path, given: Mapping[str, str]) -> TemplateContents:
    """Return the declarations of a template, or of the templates of an assembly of the CDK."""
    assembly = read_assembly(path, is_of_others=True) if path.is_dir() else None
    alone = None if assembly else Stack(path.stem, read_template_file(path), file=path)
    stacks = assembly.stacks if assembly else (alone,) if alone else ()
    trees = [with_nested(stack.template, stack.file) for stack in stacks]
    reader = TemplateContents(f"the CloudFormation template {path.name}")
    if assembly:
        reader.where = f"the templates of {path.name}"
    _check_given(reader.where, given, stacks, trees)
    exports: dict[str, Any] = {}
    assets = assembly.assets if assembly else ()
    try:
        for stack, tree in zip(stacks, trees, strict=True):
            prefix = f"{stack.name}." if len(stacks) > 1 else ""
            known = {**_place(stack), **given}
            values = Values(stack.template, known, exports, prefix, tree.nested)
            _read_stack(reader, stack.name, values)
            for asset in assets:
                if not asset.is_zipped:
                    address = f"s3://{values.resolve(asset.bucket)}/{asset.key}"
                    reader.scripts[address] = asset.source
    except RecursionError as error:
        text = f"{reader.where} has functions that need each other, or double; correct the template"
        raise UsageError(text) from error
    reader.resources += _callers(reader)
    return reader


def _check_given(
    where: str, given: Mapping[str, str], stacks: Sequence[Stack], trees: Sequence[Nested]
) -> None:
    """Raise if a template has no such parameter or resource, as after a typo."""
    known = {
        *(id_ for stack in stacks for id_ in stack.template.get("Parameters", {})),
        *(id_ for tree in trees for id_ in tree.ids()),
        *(
            id_
            for stack, tree in zip(stacks, trees, strict=True)
            for id_ in tree.ids(f"{stack.name}.")
        ),
        "AWS::AccountId",
        "AWS::Region",
        "AWS::Partition",
        "AWS::StackName",
    }
    declared = sorted({id_ for stack in stacks for id_ in stack.template.get("Parameters", {})})
    for name in given:
        if name not in known:
            raise UsageError(
                f"{where} has no parameter and no resource {show(name)}; allowed: "
                f"{', '.join(declared) or 'no parameter'}, AWS::AccountId, AWS::Region, or the "
                "logical id of a resource"
            )


def _place(stack: Stack) -> dict[str, str]:
    """Return the account and region of a stack, as far as the assembly has them."""
    account, _, region = stack.environment.removeprefix("aws://").partition("/")
    named = {"AWS::AccountId": account, "AWS::Region": region, "AWS::StackName": stack.name}
    if not stack.environment:
        del named["AWS::StackName"]
    return {key: value for key, value in named.items() if value and "unknown-" not in value}


def _read_stack(reader: TemplateContents, stack: str, values: Values) -> None:
    """Read a template, and those of its nested stacks that are at hand."""
    for name in _listed(values.template.get("Transform")):
        reader.unread_of_all.append(transformed(stack, str(name), values.template))
    for id_, resource in values.template.get("Resources", {}).items():
        if not isinstance(resource, Mapping) or "Type" not in resource:
            reader.unread_of_all.append(later(stack, str(id_)))
        elif values.is_made(resource):
            _add(reader, str(id_), resource, values)
            if (inner := values.child(str(id_))) is not None:
                _read_stack(reader, f"{stack}.{id_}", inner)
    for output in values.template.get("Outputs", {}).values():
        if isinstance(output, Mapping) and "Export" in output:
            name = values.resolve(output["Export"].get("Name"))
            values.exports[str(name)] = values.resolve(output.get("Value"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _add(reader: TemplateContents, id_: str, resource: Mapping[str, Any], values: Values) -> None:
    kind = str(resource["Type"])
    properties = values.resolve(resource.get("Properties") or {})
    properties = properties if isinstance(properties, Mapping) else {}
    name = values.name_of(id_) or id_
    if kind in (*STARTERS, *CALLERS):
        name = next((str(properties[key]) for key in OWN_NAMES if properties.get(key)), id_)
    if (kind.startswith((*GLUE_TYPES, SAM)) or kind in STARTERS) and id_ not in values.nested:
        reader.resources.append((kind, name))
    if kind in PLACES and id_ not in values.nested:
        reader.unread_of_all.append(not_at_hand(id_, PLACES[kind]))
    if kind not in SHAPES:
        reader.others.append(Declared(id_, kind, name, properties))
        return
    if name in reader.kinds[kind]:
        raise UsageError(
            f"{reader.where} has two {kind} named {show(name)}; if they are of two stages of an "
            "app, give the folder of one: --template cdk.out/assembly-STAGE"
        )
    shaped, misfits = _resource(kind, name, properties)
    reader.kinds[kind][name] = shaped
    reader.unread += _unknown(id_, kind, name, values, properties)
    reader.unread += [
        Difference(
            f"{SHAPES[kind].lower()} {name}",
            path,
            None,
            "the template has it in a form that Glue does not take, or only a deployment knows it",
            "correct the template, or the stack by hand",
        )
        for path in misfits
    ]


def _callers(reader: TemplateContents) -> Iterator[tuple[str, str]]:
    """Yield resources that may start a job, since their definition names Glue or a part of it."""
    nodes = {name for named in reader.kinds.values() for name in named}
    for resource in reader.others:
        # Those of SAM are listed whatever they name.
        if resource.kind in CALLERS and not resource.kind.startswith(SAM):
            definition = str(resource.properties)
            if "glue" in definition.lower() or any(node in definition for node in nodes):
                yield resource.kind, resource.name


def _tags(value: Any) -> dict[str, str] | None:
    """Return tags, which some templates write as a list; None if they are neither."""
    if isinstance(value, list) and all(isinstance(tag, Mapping) for tag in value):
        value = {tag.get("Key"): tag.get("Value") for tag in value}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return None
    return {key: str(text) for key, text in value.items() if not isinstance(text, Mapping | list)}


def _resource(
    kind: str, name: str, properties: Mapping[str, Any]
) -> tuple[Resource, list[tuple[str, ...]]]:
    shaped, misfits = _in_api_form(SHAPES[kind], properties)
    made = {**shaped, "Name": name}
    if "Tags" in made and (tags := _tags(made.pop("Tags"))) is not None:
        made["Tags"] = tags
    elif "Tags" in properties:
        misfits.append(("Tags",))
    if kind == "AWS::Glue::Trigger":
        if str(made.pop("StartOnCreation", "false")).lower() in ("true", "yes", "on"):
            made["State"] = "ACTIVATED"
        made.setdefault("Actions", [])
    schedule = made.get("Schedule")
    if kind == "AWS::Glue::Crawler" and isinstance(schedule, Mapping) and schedule:
        made["Schedule"] = {**schedule, "State": "SCHEDULED"}
    return made, misfits


def _giving(values: Values, unknown: str) -> str:
    """Return what to do about something unknown that can be given, empty if it cannot."""
    name, _, attribute = unknown.partition(".")
    resource = values.template.get("Resources", {}).get(name)
    if resource is None:
        is_known = name in values.template.get("Parameters", {}) or name.startswith("AWS::")
        return GIVE.format(name) if is_known else ""
    is_known = not attribute or (resource.get("Type"), attribute) in ATTRIBUTES
    return GIVE.format(f"{values.stack}{name}") if is_known else ""


def _unknown(
    id_: str, kind: str, name: str, values: Values, properties: Mapping[str, Any]
) -> Iterator[Difference]:
    """Yield what only a deployment knows of a resource."""
    of = f"{SHAPES[kind].lower()} {name}"
    stated = values.stated_name_of(id_)
    if stated != name:
        yield Difference(
            of,
            ("Name",),
            stated,
            "only a deployment gives it its name, which steps of the plan need; until then it is "
            "called by its logical id",
            "look it up (aws cloudformation describe-stack-resources) and give it: --parameter "
            f"{values.stack}{id_}=NAME",
        )
    for key, value in properties.items():
        names = values.unknown_in(value) if key not in ACCOUNTED else []
        if names:
            yield Difference(
                of,
                (key,),
                ", ".join(f"{{{name}}}" for name in names),
                "it is known at deployment only, so it is in braces",
                next(filter(None, (_giving(values, name) for name in names)), LOOK_UP),
            )
    is_trigger = kind == "AWS::Glue::Trigger" and properties.get("Type") != "ON_DEMAND"
    if is_trigger and "StartOnCreation" not in properties:
        yield Difference(
            of,
            ("StartOnCreation",),
            None,
            "the template does not activate it, so that a person did, or it fires never; it is "
            "taken for active",
            f"see it: aws glue get-trigger --name {name} --query Trigger.State",
        )


def _in_api_form(name: str, properties: Mapping[str, Any]) -> tuple[dict[str, Any], list[KeyPath]]:
    """Return the properties of a resource as a shape of the API has its members.

    Members that the shape does not have stay unchanged.
    """
    misfits: list[KeyPath] = []
    shaped = _value(properties, shape_of(name), (), misfits)
    return (shaped if isinstance(shaped, dict) else {}), misfits


def _value(value: Any, shape: Any, path: KeyPath, misfits: list[KeyPath]) -> Any:
    kind = shape.type_name
    shaped: Any = LATE
    if kind == "structure" and isinstance(value, Mapping):
        shaped = _members(value, shape, path, misfits)
    elif kind == "list" and isinstance(value, list):
        items = [_value(one, shape.member, (*path, str(n)), misfits) for n, one in enumerate(value)]
        shaped = [item for item in items if item is not LATE]
    elif kind == "map" and isinstance(value, Mapping):
        entries = {
            str(k): _value(one, shape.value, (*path, str(k)), misfits) for k, one in value.items()
        }
        shaped = {key: one for key, one in entries.items() if one is not LATE}
    elif kind not in ("structure", "list", "map"):
        shaped = plain(value, kind)
    if shaped is LATE:
        misfits.append(path)
    return shaped


def _members(value: Mapping[str, Any], shape: Any, path: KeyPath, misfits: list[KeyPath]) -> Any:
    members = {key.lower(): member for key, member in shape.members.items()}
    items = {
        key: _value(one, members[key.lower()], (*path, key), misfits)
        if key.lower() in members
        else one
        for key, one in value.items()
    }
    return {key: one for key, one in items.items() if one is not LATE}
