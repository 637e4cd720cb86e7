"""What tells one kind of job from another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.own_arguments import Cluster
from tidemark.constructs.jobs.permissions import Statement


@dataclass(frozen=True)
class JobKind:
    """What tells one kind of job from another.

    Attributes:
        command: the command of Glue that runs it, `glueetl`, and how it names the Python.
        python: the Python that runs the script.
        logs: how the names of its log groups begin.
        arguments: what the kind sets, dashed name to text.
        properties: of the job resource, as the CDK names them.
        statements: what the kind may do beside what the job declares.
        metadata: what the constructs know of the job, and Glue does not.
        ships_libs: whether the zip of shared packages is put on the script's path.
        metrics: whether Glue publishes metrics of the job.
        cluster: what Spark runs on; None where the kind has no workers.
        keeps: data in which the job keeps its state, and which no other may write.
    """

    command: tuple[str, str]
    python: tuple[int, int]
    logs: str
    arguments: Mapping[str, str]
    properties: Mapping[str, Any]
    statements: Sequence[Statement] = ()
    metadata: Mapping[str, object] | None = None
    ships_libs: bool = True
    metrics: bool = False
    cluster: Cluster | None = None
    keeps: Sequence[Dataset] = ()
