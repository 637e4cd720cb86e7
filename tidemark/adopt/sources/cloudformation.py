"""Reads CloudFormation templates, and the folder of a CDK app, as what boto3 would return.

Nothing is asked of an account. What only a deployment knows is named.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_Glue.html (its
properties are the members of the API except for the name of a resource and StartOnCreation)
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark.adopt.model import Difference, KeyPath, Resource
from tidemark.adopt.sources import nested_templates as nested
from tidemark.adopt.sources.cloudformation_surroundings import Declared
from tidemark.adopt.sources.contents import GLUE_TYPES, SHAPES, TemplateContents
from tidemark.adopt.sources.template_file import read_template_file
from tidemark.adopt.sources.template_values import ATTRIBUTES, Values
from tidemark.errors import UsageError, show
from tidemark.model.assembly.cloud_assembly import Stack, read_assembly
from tidemark.model.assembly.glue_shapes import LATE, plain, shape_of

STARTERS = ("AWS::Events::Rule", "AWS::MWAA::Environment", "AWS::Scheduler::Schedule")
# What starts jobs where its definition names one, or Glue.
CALLERS = {"AWS::Lambda::Function", "AWS::Pipes::Pipe", "AWS::StepFunctions::StateMachine"}
CALLERS |= {f"{nested.SAM}Function", f"{nested.SAM}StateMachine"}
OWN_NAMES = ("StateMachineName", "FunctionName", "Name")
# Resources that are always listed, or not part of the code.
ACCOUNTED = ("CrawlerSecurityConfiguration", "Name", "Role", "SecurityConfiguration")
GIVE = "give it (--parameter {}=VALUE), or correct the stack by hand"
LOOK_UP = "look it up in the deployment, and correct the stack by hand"


def read_templates(path: Path, given: Mapping[str, str]) -> TemplateContents:
    """Return the declarations of a template, or of the templates of an assembly of the CDK."""
    if path.is_dir():
        assembly = read_assembly(path, is_of_others=True)
        stacks, assets, what = assembly.stacks, assembly.assets, "templates of"
    else:
        stacks, assets = (Stack(path.stem, read_template_file(path), file=path),), ()
        what = "CloudFormation template"
    trees = [nested.with_nested(stack.template, stack.file) for stack in stacks]
    reader = TemplateContents(f"the {what} {path.name}")
    _check_given(reader.where, given, stacks, trees)
    exports: dict[str, Any] = {}
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
    where: str, given: Mapping[str, str], stacks: Sequence[Stack], trees: Sequence[nested.Nested]
) -> None:
    """Raise if a template has no such parameter or resource, as after a typo."""
    declared = sorted({id_ for stack in stacks for id_ in stack.template.get("Parameters", {})})
    known = {*declared, "AWS::AccountId", "AWS::Region", "AWS::Partition", "AWS::StackName"}
    for stack, tree in zip(stacks, trees, strict=True):
        known |= {*tree.ids(), *tree.ids(f"{stack.name}.")}
    if unknown := [name for name in given if name not in known]:
        raise UsageError(
            f"{where} has no parameter and no resource {show(unknown[0])}; allowed: "
            f"{', '.join(declared) or 'no parameter'}, AWS::AccountId, AWS::Region, or the "
            "logical id of a resource"
        )


def _place(stack: Stack) -> dict[str, str]:
    """Return the account and region of a stack, as far as the assembly has them."""
    account, _, region = stack.environment.removeprefix("aws://").partition("/")
    name = stack.name if stack.environment else ""
    named = {"AWS::AccountId": account, "AWS::Region": region, "AWS::StackName": name}
    return {key: value for key, value in named.items() if value and "unknown-" not in value}


def _read_stack(reader: TemplateContents, stack: str, values: Values) -> None:
    """Read a template, and those of its nested stacks that are at hand."""
    transforms = values.template.get("Transform") or []
    for name in transforms if isinstance(transforms, list) else [transforms]:
        reader.unread_of_all.append(nested.transformed(stack, str(name), values.template))
    for id_, resource in values.template.get("Resources", {}).items():
        if not isinstance(resource, Mapping) or "Type" not in resource:
            reader.unread_of_all.append(nested.later(stack, str(id_)))
        elif values.is_made(resource):
            _add(reader, str(id_), resource, values)
            if (inner := values.child(str(id_))) is not None:
                _read_stack(reader, f"{stack}.{id_}", inner)
    for output in values.template.get("Outputs", {}).values():
        if isinstance(output, Mapping) and "Export" in output:
            name = values.resolve(output["Export"].get("Name"))
            values.exports[str(name)] = values.resolve(output.get("Value"))


def _add(reader: TemplateContents, id_: str, resource: Mapping[str, Any], values: Values) -> None:
    kind = str(resource["Type"])
    properties = values.resolve(resource.get("Properties") or {})
    properties = properties if isinstance(properties, Mapping) else {}
    name = values.name_of(id_) or id_
    if kind in (*STARTERS, *CALLERS):
        name = next((str(properties[key]) for key in OWN_NAMES if properties.get(key)), id_)
    is_listed = kind.startswith((*GLUE_TYPES, nested.SAM)) or kind in STARTERS
    if is_listed and id_ not in values.nested:
        reader.resources.append((kind, name))
    if kind in nested.PLACES and id_ not in values.nested:
        reader.unread_of_all.append(nested.not_at_hand(id_, nested.PLACES[kind]))
    if kind not in SHAPES:
        reader.others.append(Declared(id_, kind, name, properties))
        return
    if name in reader.kinds[kind]:
        raise UsageError(
            f"{reader.where} has two {kind} named {show(name)}; if they are of two stages of an "
            "app, give the folder of one: --template cdk.out/assembly-STAGE"
        )
    of, misfits = f"{SHAPES[kind].lower()} {name}", list[KeyPath]()
    reader.kinds[kind][name] = _resource(kind, name, properties, misfits)
    reader.unread += _unknown(id_, kind, name, values, properties)
    why = "the template has it in a form that Glue does not take, or only a deployment knows it"
    do = "correct the template, or the stack by hand"
    reader.unread += (Difference(of, path, None, why, do) for path in misfits)


def _callers(reader: TemplateContents) -> Iterator[tuple[str, str]]:
    """Yield resources that may start a job, since their definition names Glue or a part of it."""
    nodes = {name for named in reader.kinds.values() for name in named}
    for resource in reader.others:
        # Those of SAM are listed whatever they name.
        if resource.kind in CALLERS and not resource.kind.startswith(nested.SAM):
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
    kind: str, name: str, properties: Mapping[str, Any], misfits: list[KeyPath]
) -> Resource:
    """Return a resource as a shape of the API has its members; others stay unchanged."""
    made = {**_value(properties, shape_of(SHAPES[kind]), (), misfits), "Name": name}
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
    return made


def _giving(values: Values, unknown: str) -> str:
    """Return what to do about something unknown that can be given, empty if it cannot."""
    name, _, attribute = unknown.partition(".")
    resource = values.template.get("Resources", {}).get(name)
    if resource is None:
        is_known = name in values.template.get("Parameters", {}) or name.startswith("AWS::")
    else:
        is_known = not attribute or (resource.get("Type"), attribute) in ATTRIBUTES
        name = f"{values.stack}{name}"
    return GIVE.format(name) if is_known else ""


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
            shown = ", ".join(f"{{{name}}}" for name in names)
            why = "it is known at deployment only, so it is in braces"
            do = next(filter(None, (_giving(values, name) for name in names)), LOOK_UP)
            yield Difference(of, (key,), shown, why, do)
    is_trigger = kind == "AWS::Glue::Trigger" and properties.get("Type") != "ON_DEMAND"
    if is_trigger and "StartOnCreation" not in properties:
        why = (
            "the template does not activate it, so that a person did, or it fires never; it is "
            "taken for active"
        )
        do = f"see it: aws glue get-trigger --name {name} --query Trigger.State"
        yield Difference(of, ("StartOnCreation",), None, why, do)


def _value(value: Any, shape: Any, path: KeyPath, misfits: list[KeyPath]) -> Any:
    kind = shape.type_name
    shaped: Any = LATE
    if kind == "list" and isinstance(value, list):
        parts = (((*path, str(number)), part) for number, part in enumerate(value))
        items = [_value(part, shape.member, at, misfits) for at, part in parts]
        shaped = [item for item in items if item is not LATE]
    elif kind in ("map", "structure") and isinstance(value, Mapping):
        members = {name.lower(): member for name, member in getattr(shape, "members", {}).items()}
        entries = {}
        for name, part in value.items():
            inner = shape.value if kind == "map" else members.get(name.lower())
            key = str(name) if kind == "map" else name
            known = inner is not None
            entries[key] = _value(part, inner, (*path, key), misfits) if known else part
        shaped = {key: part for key, part in entries.items() if part is not LATE}
    elif kind not in ("structure", "list", "map"):
        shaped = plain(value, kind)
    if shaped is LATE:
        misfits.append(path)
    return shaped
