"""Raises what Glue refuses of jobs, of their runs and of tags."""

from collections.abc import Iterable

from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.model.assembly.job_rules import Members, faults_of_job, faults_of_run

MAX_TAGS = 50
OF_AWS = "aws:"


def check_job(definition: Members) -> None:
    """Refuse a job that Glue would refuse."""
    _raise(faults_of_job(definition))


def check_run(definition: Members, request: Members) -> None:
    """Refuse a run that Glue would refuse."""
    _raise(faults_of_run(definition, request))


def check_tags(tags: Iterable[str]) -> None:
    """Refuse the keys of tags that a client may not give or take."""
    reserved = sorted(key for key in tags if key.lower().startswith(OF_AWS))
    _raise([f"the tag {key!r} begins with {OF_AWS}, which only AWS may do" for key in reserved])


def _raise(faults: list[str]) -> None:
    if faults:
        raise InvalidInputError("; ".join(faults))
