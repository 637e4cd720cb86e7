"""The boto3 clients that the commands work with: of a deployed stage, or of a port here.

A stage is asked where the credentials of the caller lead, as by the AWS CLI; a port by its URL,
with its access key. Neither stands in for the other.
"""

import ipaddress
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, NoReturn
from urllib.parse import urlsplit

from tidemark.errors import TidemarkError, UsageError
from tidemark.operate.app_names import JOB, STAGE_TAG, TRIGGER, WORKFLOW, Names

STACK_TAG = "aws:cloudformation:stack-name"
KINDS = {JOB: "job", WORKFLOW: "workflow", TRIGGER: "trigger"}
POLL_S, POLL_HERE_S = 3.0, 0.1
NO_CONFIGURATION = {"profile": None, "config_file": os.devnull, "credentials_file": os.devnull}
NO_CREDENTIALS = (
    "there are no AWS credentials; `aws configure` or `aws sso login` gives some, AWS_PROFILE "
    "names others"
)
AWS_PREFIX = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
NOT_FOUND = ("EntityNotFoundException", "ResourceNotFoundException")
# How emulators of AWS say that they lack an operation: by code, by status, or in words.
LACKING_CODES = ("InvalidAction", "UnknownOperationException", "NotImplemented", "501")
LACKING_WORDS = re.compile(
    r"(?i)not (yet )?(been )?(implemented|emulated|supported)|unknown .*action"
)


class NotAnsweredError(TidemarkError):
    """The account, such as an emulator, does not answer an operation of AWS."""


def _no_client(service: str) -> NoReturn:
    raise NotImplementedError(f"this Glue was made without a way to {service}")


@dataclass(frozen=True)
class Glue:
    """A Glue that answers.

    Attributes:
        glue: the client of Glue.
        logs: the client of CloudWatch Logs.
        names: the jobs and workflows that the caller may mean.
        where: whose Glue it is, for people.
        poll_s: how long to wait before asking again.
        arn: prefix of the ARNs of jobs and workflows, up to the kind; None if nothing is shared.
        client: returns the client of another service of the same account or port, by boto3's name.
    """

    glue: Any
    logs: Any
    names: Names
    where: str
    poll_s: float
    arn: str | None = None
    client: Callable[[str], Any] = field(default=_no_client)

    def check_stage(self, kind: str, name: str) -> None:
        """Refuse a job or workflow of this name that another stage has deployed."""
        if self.arn is None:
            return
        tags = self._tags(f"{self.arn}:{KINDS[kind]}/{name}")
        stack = self.names.stack_of.get((kind, name))
        for tag, wanted in ((STAGE_TAG, self.names.stage), (STACK_TAG, stack)):
            value = tags.get(tag)
            if value is not None and wanted and value != wanted:
                raise UsageError(
                    f"the {KINDS[kind]} {name} in {self.where} is not of stage {self.names.stage}: "
                    f"its tag {tag} is {value!r}, not {wanted!r}; use the account and region of "
                    "this stage, or name that stage with --deployed"
                )

    def _tags(self, arn: str) -> Mapping[str, str]:
        from botocore.exceptions import ClientError

        try:
            tags: Mapping[str, str] = self.glue.get_tags(ResourceArn=arn)["Tags"]
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in (*NOT_FOUND, "AccessDeniedException"):  # reported later
                return {}
            raise
        return tags


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Make the errors of boto3 one line each."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        EndpointConnectionError,
        NoCredentialsError,
        NoRegionError,
        PartialCredentialsError,
    )

    try:
        yield
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise UsageError(NO_CREDENTIALS) from error
    except NoRegionError as error:
        raise UsageError(
            "there is no region: the stage names none, and neither does AWS_REGION or the profile; "
            "set one of them"
        ) from error
    except EndpointConnectionError as error:
        raise TidemarkError(f"{where} does not answer: {error}") from error
    except (BotoCoreError, ClientError) as error:
        is_missing = getattr(error, "response", {}).get("Error", {}).get("Code") in NOT_FOUND
        hint = "; has the app been deployed there?" if is_missing else ""
        raise TidemarkError(f"{where} refuses: {_error_message(error)}{hint}") from error


def _error_message(error: Exception) -> str:
    details = getattr(error, "response", {}).get("Error", {})
    code, message = details.get("Code"), details.get("Message")
    return f"{code}: {message}" if code and message else str(error)


@contextmanager
def of_stage(names: Names, tell: Callable[[str], None]) -> Iterator[Glue]:
    """Yield the Glue that the caller's credentials and the region of a stage lead to."""
    import boto3

    where = f"stage {names.stage}"
    with translated(where):
        session = boto3.Session(region_name=names.region or os.environ.get("AWS_REGION") or None)
        if session.get_credentials() is None:
            raise UsageError(f"{NO_CREDENTIALS}; --deployed {names.stage} works with them alone")
        glue = session.client("glue")
        arn = str(session.client("sts").get_caller_identity()["Arn"])
    _, partition, *_ = arn.split(":")
    account, region = arn.split(":")[4], glue.meta.region_name
    if names.account is not None and account != names.account:
        raise UsageError(
            f"stage {names.stage} is deployed into the account {names.account}, and these are "
            f"credentials of {account}; AWS_PROFILE names others"
        )
    endpoint = glue.meta.endpoint_url
    if not (urlsplit(endpoint).hostname or "").endswith(AWS_PREFIX):
        tell(f"AWS_ENDPOINT_URL: {endpoint} answers for stage {names.stage}")
    where = f"stage {names.stage} ({account}, {region})"
    poll_s = POLL_HERE_S if is_loopback(endpoint) else POLL_S
    begin = f"arn:{partition}:glue:{region}:{account}"
    client = partial(session.client)
    with translated(where):
        yield Glue(glue, client("logs"), names, where, poll_s, begin, client)


def is_loopback(url: str) -> bool:
    """Return whether a URL leads to this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def of_port(url: str, where: str, region: str, key: Mapping[str, str]) -> Iterator[Glue]:
    """Yield the Glue of a port of this machine, whatever the environment variables for AWS."""
    import boto3
    import botocore.session
    from botocore.config import Config

    # A profile or an endpoint in the files of the user would lead to another place.
    core = botocore.session.Session()
    for name, value in NO_CONFIGURATION.items():
        core.get_component("config_store").set_config_variable(name, value)
    session = boto3.Session(region_name=region, botocore_session=core, **dict(key))
    # A proxy of the environment does not reach this machine.
    config = Config(retries={"total_max_attempts": 2}, proxies={})
    with translated(where):
        client = partial(session.client, endpoint_url=url, config=config)
        glue = client("glue")
        jobs = tuple(members_of(glue.list_jobs, "JobNames"))
        names = Names(jobs, tuple(members_of(glue.list_workflows, "Workflows")))
        yield Glue(glue, client("logs"), names, where, POLL_HERE_S, client=client)


def or_none(operation: Callable[..., dict[str, Any]], **request: Any) -> dict[str, Any] | None:
    """Return the answer of an operation; None if the requested object does not exist."""
    from botocore.exceptions import ClientError

    try:
        return operation(**request)
    except ClientError as error:
        if _is_lacking(error.response):
            raise NotAnsweredError(str(error)) from error
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
        return None


def _is_lacking(answer: Mapping[str, Any]) -> bool:
    error = answer["Error"]
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return (
        status >= HTTPStatus.INTERNAL_SERVER_ERROR  # as moto answers what it lacks
        or error.get("Code") in LACKING_CODES
        or bool(LACKING_WORDS.search(error.get("Message", "")))
    )


def members_of(
    operation: Callable[..., Mapping[str, Any]], member: str, **request: Any
) -> list[Any]:
    """Return a member of every page that an operation answers."""
    members: list[Any] = []
    while True:
        answer = operation(**request)
        members += answer[member]
        if not answer.get("NextToken"):
            return members
        request["NextToken"] = answer["NextToken"]
