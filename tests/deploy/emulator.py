"""MiniStack as a program, with what it lacks of the resource types that our templates use.

Whatever it does not know at all it refuses, as AWS does: `Unrecognized resource types`. What is
added here is only glue between its own services: CloudFormation handlers that call its API of Glue
and Budgets, and request context for its own IAM evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ministack import app as gateway
from ministack.core import iam_actions
from ministack.services import budgets, glue
from ministack.services.cloudformation import provisioners

from tests.deploy import emulated_requests

Properties = dict[str, Any]
Call = Callable[[Properties], tuple[int, Any, bytes]]


def main() -> None:
    """Serve on GATEWAY_PORT until the process is ended."""
    handlers = provisioners._RESOURCE_HANDLERS
    handlers["AWS::Glue::Workflow"] = named(
        "AWS::Glue::Workflow",
        glue._create_workflow,
        glue._update_workflow,
        glue._delete_workflow,
        workflow,
    )
    handlers["AWS::Glue::SecurityConfiguration"] = named(
        "AWS::Glue::SecurityConfiguration",
        glue._create_security_configuration,
        None,
        glue._delete_security_configuration,
        security_configuration,
    )
    provisioners._REPLACING_PROPERTIES["AWS::Glue::Workflow"] = ("Name",)
    provisioners._REPLACING_PROPERTIES["AWS::Glue::SecurityConfiguration"] = (
        "Name",
        "EncryptionConfiguration",
    )
    handlers["AWS::Budgets::Budget"] = {
        "create": create_budget,
        "update": update_budget,
        "delete": lambda name, _: call(budgets._delete_budget, {"BudgetName": name}),
    }
    provisioners._cw_metric_alarm_record = with_queries(provisioners._cw_metric_alarm_record)
    iam_actions.dynamodb_service_context = emulated_requests.with_leading_keys(
        iam_actions.dynamodb_service_context
    )
    iam_actions.extract_resource_arn = emulated_requests.with_workflows(
        iam_actions.extract_resource_arn
    )
    gateway.app = emulated_requests.over_tls(gateway.app)
    gateway.main()


def call(operation: Call, request: Properties) -> None:
    """Call an operation of a service; its refusal fails the resource."""
    status, _, body = operation(request)
    if status >= 400:
        raise ValueError(body.decode())


def named(
    type_: str,
    create: Call,
    update: Call | None,
    delete: Call,
    request: Callable[[Properties], Properties],
) -> dict[str, Any]:
    """Return the handlers of a type of Glue whose API knows it by `Name` and nothing else."""

    def create_(logical_id: str, properties: Properties, stack: str) -> tuple[str, Properties]:
        name = properties.get("Name") or provisioners._physical_name(stack, logical_id, max_len=255)
        call(create, {**request(properties), "Name": name})
        return name, {}

    def update_(
        name: str, old: Properties, properties: Properties, stack: str
    ) -> tuple[str, Properties]:
        assert update, "a change of this type replaces it"
        call(update, {**request(properties), "Name": name})
        kind = type_.removeprefix("AWS::Glue::").lower()
        provisioners._glue_sync_tags(glue._arn(kind, name), old, properties, type_)
        return name, {}

    return {
        "create": create_,
        "update": update_,
        "delete": lambda name, _: call(delete, {"Name": name}),
    }


def workflow(properties: Properties) -> Properties:
    number = properties.get("MaxConcurrentRuns")
    return {**properties, **({} if number is None else {"MaxConcurrentRuns": int(number)})}


def security_configuration(properties: Properties) -> Properties:
    """Return the request of a template, whose S3Encryptions are S3Encryption in the API."""
    encryption = dict(properties["EncryptionConfiguration"])
    if "S3Encryptions" in encryption:
        encryption["S3Encryption"] = encryption.pop("S3Encryptions")
    return {"EncryptionConfiguration": encryption}


def create_budget(logical_id: str, properties: Properties, stack: str) -> tuple[str, Properties]:
    name = properties["Budget"].get("BudgetName") or provisioners._physical_name(stack, logical_id)
    call(budgets._create_budget, {**properties, "Budget": with_name(properties["Budget"], name)})
    return name, {}


def update_budget(
    name: str, _: Properties, properties: Properties, __: str
) -> tuple[str, Properties]:
    call(budgets._update_budget, {"NewBudget": with_name(properties["Budget"], name)})
    return name, {}


def with_name(budget: Properties, name: str) -> Properties:
    return {**budget, "BudgetName": name}


def with_queries(record: Callable[[str, Properties], Properties]) -> Callable[..., Properties]:
    """Return a maker of alarm records that also takes alarms on several metrics."""
    single = {"MetricName": None, "Namespace": None, "Statistic": None, "Period": None}

    def extended(name: str, properties: Properties) -> Properties:
        if "Metrics" not in properties:
            return record(name, properties)
        rest = {key: value for key, value in properties.items() if key != "Metrics"}
        placeholders = {"MetricName": "several", "Namespace": "several", "Threshold": 0}
        alarm = {**record(name, {**placeholders, **rest}), **single}
        asked = {key: properties.get(key) for key in ("Metrics", "Threshold", "ThresholdMetricId")}
        return {**alarm, **asked}

    return extended


if __name__ == "__main__":
    main()
