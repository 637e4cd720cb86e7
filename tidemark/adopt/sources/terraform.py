"""Reads a state file of Terraform (version 4) as what boto3 would return: pure, on its JSON.

Sources: https://developer.hashicorp.com/terraform/internals/json-format,
https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/glue_job and
glue_trigger, glue_workflow, glue_crawler next to it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.adopt.model import Difference, Resource
from tidemark.adopt.sources.api_shapes import in_api_form
from tidemark.adopt.sources.terraform_surroundings import TYPES as OTHERS
from tidemark.errors import UsageError, show

VERSION = 4
ADDRESS = ("module", "type", "name")
SHAPES = {f"aws_glue_{kind.lower()}": kind for kind in ("Job", "Trigger", "Workflow", "Crawler")}
TYPES = tuple(SHAPES)
GLUE_TYPES = ("aws_glue_", "aws_lakeformation_")
STARTERS = (
    "aws_cloudwatch_event_rule",
    "aws_mwaa_environment",
    "aws_scheduler_schedule",
    "aws_sfn_state_machine",
)
CALLERS = ("aws_lambda_function", "aws_pipes_pipe")  # where their attributes name a job, or Glue
OWN_NAMES = ("name", "function_name", "alarm_name", "dashboard_name")
OBJECTS = ("aws_s3_object", "aws_s3_bucket_object")
COMPUTED = {"arn", "id", "region", "tags_all", "timeouts"}  # no part of the definition
# Attributes whose names in the API are not those in other spelling.
RENAMED = {
    "role_arn": "Role",
    "dynamodb_target": "DynamoDBTargets",
    "mongodb_target": "MongoDBTargets",
}
RENAMED |= {f"{kind}_target": f"{kind.capitalize()}Targets" for kind in ("s3", "jdbc", "catalog")}
RENAMED |= {f"{kind}_target": f"{kind.capitalize()}Targets" for kind in ("delta", "hudi")}
RENAMED |= {"iceberg_target": "IcebergTargets"}
MAPS = {
    "default_arguments",
    "non_overridable_arguments",
    "arguments",
    "default_run_properties",
    "tags",
}
LISTS = {"actions", "conditions"}  # blocks that can be repeated
KNOWN: dict[str, set[str]] = {
    "aws_glue_job": {
        "command",
        "connections",
        "default_arguments",
        "description",
        "execution_class",
        "execution_property",
        "glue_version",
        "job_mode",
        "job_run_queuing_enabled",
        "maintenance_window",
        "max_capacity",
        "max_retries",
        "name",
        "non_overridable_arguments",
        "notification_property",
        "number_of_workers",
        "role_arn",
        "security_configuration",
        "source_control_details",
        "tags",
        "timeout",
        "worker_type",
    },
    "aws_glue_trigger": {
        "actions",
        "description",
        "enabled",
        "event_batching_condition",
        "name",
        "predicate",
        "schedule",
        "start_on_creation",
        "state",
        "tags",
        "type",
        "workflow_name",
    },
    "aws_glue_crawler": {
        "classifiers",
        "configuration",
        "database_name",
        "description",
        "name",
        "role",
        "lake_formation_configuration",
        "lineage_configuration",
        "recrawl_policy",
        "schedule",
        "schema_change_policy",
        "security_configuration",
        "table_prefix",
        "tags",
        *(f"{kind}_target" for kind in ("catalog", "delta", "dynamodb", "hudi", "iceberg")),
        *(f"{kind}_target" for kind in ("jdbc", "mongodb", "s3")),
    },
    "aws_glue_workflow": {
        "default_run_properties",
        "description",
        "max_concurrent_runs",
        "name",
        "tags",
    },
}


@dataclass
class TerraformState:
    """The contents of a state file, spelt as in boto3.

    Attributes:
        jobs: jobs by name; likewise triggers, workflows, crawlers.
        objects: objects of S3 that Terraform uploaded, by URI, with their attributes.
        others: attributes of other resources than jobs, by type: rules, roles.
        unread: attributes that this version does not know.
        resources: all that has to do with Glue: type and name.
        around: what else there is: type, name and attributes.
    """

    jobs: dict[str, Resource] = field(default_factory=dict)
    triggers: dict[str, Resource] = field(default_factory=dict)
    workflows: dict[str, Resource] = field(default_factory=dict)
    crawlers: dict[str, Resource] = field(default_factory=dict)
    objects: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    others: dict[str, list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    unread: list[Difference] = field(default_factory=list)
    resources: list[tuple[str, str]] = field(default_factory=list)
    around: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)


def read_state(document: object, where: str) -> TerraformState:
    """Return the contents of a state file."""
    version = document.get("version") if isinstance(document, dict) else None
    if not isinstance(document, dict) or version != VERSION:
        raise UsageError(
            f"{where} is not a Terraform state of version {VERSION} (it says {version}); write one "
            "with: terraform state pull > FILE"
        )
    state = TerraformState()
    of = "resources"
    try:
        for resource in document.get("resources", []):
            of = ".".join(str(resource[key]) for key in ADDRESS if resource.get(key))
            for kind, name, values in _instances(resource):
                own = str(next((values[key] for key in OWN_NAMES if values.get(key)), name))
                _note(state, kind, own, values)
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise UsageError(
            f"{where}: {show(of)} is not as Terraform writes it ({error!r}); write it again with: "
            "terraform state pull > FILE"
        ) from error
    nodes = [*state.jobs, *state.workflows, *state.crawlers, "glue"]
    state.resources += [
        (kind, own)
        for kind, own, values in state.around
        if kind in CALLERS and any(node in str(values) for node in nodes)
    ]
    return state


def _note(state: TerraformState, kind: str, own: str, values: dict[str, Any]) -> None:
    if kind.startswith(GLUE_TYPES) or kind in STARTERS:
        state.resources.append((kind, own))
    if not kind.startswith(GLUE_TYPES) and kind not in OBJECTS:
        state.around.append((kind, own, values))
    if kind in (*TYPES, *OBJECTS, *OTHERS):
        _add(state, kind, values)


def _instances(resource: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what Terraform manages: type, name in the configuration, attributes."""
    if resource.get("mode") == "managed":
        for instance in resource.get("instances", []):
            yield resource["type"], str(resource.get("name")), instance["attributes"]


def _add(state: TerraformState, kind: str, values: dict[str, Any]) -> None:
    if kind in OTHERS:
        state.others[kind].append(values)
        return
    if kind in OBJECTS:
        state.objects[f"s3://{values['bucket']}/{values['key']}"] = values
        return
    name = values["name"]
    known, made = {
        "aws_glue_job": (state.jobs, _job),
        "aws_glue_trigger": (state.triggers, _trigger),
        "aws_glue_workflow": (state.workflows, _resource),
        "aws_glue_crawler": (state.crawlers, _crawler),
    }[kind]
    if name in known:
        raise UsageError(
            f"the state has two {kind} named {show(name)}, of several regions or accounts; read "
            "one of them: --from-account --region REGION"
        )
    known[name] = _checked(kind, made(values))
    of = f"{kind.removeprefix('aws_glue_')} {values['name']}"
    state.unread += [
        Difference(
            of,
            (attribute,),
            None,
            "this version of tidemark does not know this attribute of Terraform",
            "look it up in the provider's documentation",
        )
        for attribute, value in values.items()
        if attribute not in KNOWN[kind] | COMPUTED and not _is_empty(value)
    ]


def _checked(kind: str, resource: Resource) -> Resource:
    """Return a resource with the types of the API's members; raise if a value is of another."""
    shaped, misfits = in_api_form(SHAPES[kind], resource)
    if misfits or not isinstance(resource.get("Name"), str):
        where = ".".join(misfits[0]) if misfits else "Name"
        raise ValueError(f"{kind} {resource.get('Name')!r} has another type in {where}")
    return shaped


def _job(values: Mapping[str, Any]) -> Resource:
    job = _resource({key: value for key, value in values.items() if key in KNOWN["aws_glue_job"]})
    if values.get("connections"):
        job["Connections"] = {"Connections": list(values["connections"])}
    return job


def _trigger(values: Mapping[str, Any]) -> Resource:
    known = KNOWN["aws_glue_trigger"] - {"enabled", "start_on_creation"}
    trigger = _resource({key: value for key, value in values.items() if key in known})
    trigger.setdefault("Actions", [])
    if "State" not in trigger and values.get("type") != "ON_DEMAND":
        trigger["State"] = "ACTIVATED" if values.get("enabled", True) else "DEACTIVATED"
    return trigger


def _crawler(values: Mapping[str, Any]) -> Resource:
    known = KNOWN["aws_glue_crawler"] - {"schedule", "security_configuration"}
    crawler = _resource({key: value for key, value in values.items() if key in known})
    targets = [key for key in crawler if key.endswith("Targets")]
    if targets:
        crawler["Targets"] = {key: crawler.pop(key) for key in targets}
    if values.get("schedule"):
        crawler["Schedule"] = {"ScheduleExpression": values["schedule"], "State": "SCHEDULED"}
    if values.get("security_configuration"):
        crawler["CrawlerSecurityConfiguration"] = values["security_configuration"]
    return crawler


def _resource(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as the API names them, without those that are not set."""
    return {
        RENAMED.get(key) or "".join(map(str.capitalize, key.split("_"))): _value(key, value)
        for key, value in values.items()
        if not _is_empty(value) and key not in COMPUTED
    }


def _value(key: str, value: Any) -> Any:
    if key in MAPS:
        return dict(value)
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        blocks = [_resource(one) for one in value]
        return blocks if key in LISTS or key.endswith("_target") else blocks[0]
    return value


def _is_empty(value: Any) -> bool:
    """Return whether Terraform writes this value for an unset attribute."""
    return value is None or (value in ("", [], {}, 0) and value is not False)
