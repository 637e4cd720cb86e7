"""What MiniStack's IAM evaluator does not know of a request: its keys, its workflow, its TLS."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ministack.services import dynamodb

Properties = dict[str, Any]
KEY_EQUALS = re.compile(r"(#?\w+)\s*=\s*(:\w+)")


def with_leading_keys(context: Callable[[bytes], Properties]) -> Callable[[bytes], Properties]:
    """Add dynamodb:LeadingKeys, the partition keys that a request names."""

    def extended(body: bytes) -> Properties:
        keys = sorted(set(leading_keys(json.loads(body or b"{}"))))
        return {**context(body), **({"dynamodb:LeadingKeys": keys} if keys else {})}

    return extended


def leading_keys(request: Mapping[str, Any]) -> Iterator[str]:
    """Yield the partition keys of a request about items."""
    for item in request.get("TransactItems", ()):
        for member in item.values():
            yield from leading_keys(member)
    table = dynamodb._tables.get(request.get("TableName", "").rpartition("/")[2])
    if table is None:
        return
    name = table["pk_name"]
    for member in ("Key", "Item"):
        if name in request.get(member, {}):
            yield next(iter(request[member][name].values()))
    names = request.get("ExpressionAttributeNames", {})
    for left, right in KEY_EQUALS.findall(request.get("KeyConditionExpression", "")):
        if names.get(left, left) == name:
            yield next(iter(request["ExpressionAttributeValues"][right].values()))


def with_workflows(resource_arn: Callable[..., str]) -> Callable[..., str]:
    """Name the workflow that a request starts, which MiniStack takes for a table."""

    def extended(
        service: str, method: str, path: str, headers: Properties, body: bytes, *rest: Any
    ) -> str:
        arn = resource_arn(service, method, path, headers, body, *rest)
        if headers.get("x-amz-target") == "AWSGlue.StartWorkflowRun":
            return arn.replace(":table/", ":workflow/", 1)
        return arn

    return extended


def over_tls(app: Callable[..., Any]) -> Callable[..., Any]:
    """Count requests as encrypted: what is sent to 127.0.0.1 leaves no machine.

    A request that says `x-forwarded-proto: http` is counted as plain.
    """

    async def wrapped(scope: Properties, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = scope["headers"]
            if not any(name == b"x-forwarded-proto" for name, _ in headers):
                headers = [*headers, (b"x-forwarded-proto", b"https")]
            scope = {**scope, "headers": headers}
        await app(scope, receive, send)

    return wrapped
