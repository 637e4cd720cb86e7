"""The request that started a job run, kept for clients and retries, and its capacity."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import SHELL, SPARK

WORKER_DPU = {
    "Standard": 1.0,
    "G.025X": 0.25,
    **{f"G.{size}X": float(size) for size in (1, 2, 4, 8, 12, 16)},
    **{f"R.{size}X": float(size) for size in (1, 2, 4, 8)},
    "Z.2X": 2.0,
}
SHELL_DPU = 0.0625
DPU = 10.0  # default of a Spark job


@dataclass(frozen=True)
class RunRequest:
    """The request for a job run.

    Attributes:
        run_id: the run.
        arguments: arguments of the run, without those of its job.
        timeout_minutes: None means the job's timeout.
        settings: other members of the request, by their names in StartJobRun, such as WorkerType.
        previous_run_id: the run that this one retries.
        predecessors: the runs whose states fired its trigger, each JobName and RunId.
        flow_id: the firing or workflow run that started it; None if a client did.
        is_queued: whether it waits where as many runs of the job as may be are running.
        glue_version: which one it has; None if it is not known, or the job has no Spark.
        is_submitted: whether `tidemark submit` ran a script, which may be of no job.
    """

    run_id: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    timeout_minutes: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    previous_run_id: str | None = None
    predecessors: tuple[Mapping[str, str], ...] = ()
    flow_id: str | None = None
    is_queued: bool = False
    glue_version: str | None = None
    is_submitted: bool = False


def put_run_request(store: Store, request: RunRequest) -> None:
    """Insert or replace a request."""
    document = asdict(request)
    run_id, flow_id = document.pop("run_id"), document.pop("flow_id")
    store.change(
        "INSERT OR REPLACE INTO run_request VALUES (?, ?, ?)",
        (run_id, flow_id, json.dumps(document)),
    )


def run_requests(store: Store, run_ids: list[str]) -> dict[str, RunRequest]:
    """Return the requests of runs by their ids; a run of `tidemark run` has an empty one."""
    requests = {run_id: RunRequest(run_id) for run_id in run_ids}
    rows = store.query(
        "SELECT * FROM run_request WHERE run_id IN (SELECT value FROM json_each(?))",
        (json.dumps(run_ids),),
    )
    for row in rows:
        document = json.loads(row["document"])
        document["predecessors"] = tuple(document["predecessors"])
        requests[row["run_id"]] = RunRequest(row["run_id"], flow_id=row["flow_id"], **document)
    return requests


def run_request(store: Store, run_id: str) -> RunRequest:
    """Return the request of one run."""
    return run_requests(store, [run_id])[run_id]


@dataclass(frozen=True)
class Capacity:
    """The resources that a job run may use."""

    dpu: float
    worker_type: str | None = None
    number_of_workers: int | None = None

    def members(self) -> dict[str, Any]:
        """Return the members of a Job or a JobRun for it."""
        workers = {"WorkerType": self.worker_type, "NumberOfWorkers": self.number_of_workers}
        return {
            "MaxCapacity": self.dpu,
            "AllocatedCapacity": int(self.dpu),
            **{name: value for name, value in workers.items() if value is not None},
        }


def capacity_of(definition: Mapping[str, Any], run: Mapping[str, Any] | None = None) -> Capacity:
    """Return the capacity of a job, or of a run that overrides it."""
    stated = {**definition, **(run or {})}
    if run and "MaxCapacity" in run:
        stated.pop("WorkerType", None)
    worker_type, number = stated.get("WorkerType"), stated.get("NumberOfWorkers")
    if worker_type and number:
        return Capacity(WORKER_DPU[worker_type] * number, worker_type, number)
    is_shell = definition["Command"].get("Name", SPARK) == SHELL
    otherwise = stated.get("AllocatedCapacity") or (SHELL_DPU if is_shell else DPU)
    return Capacity(float(stated.get("MaxCapacity") or otherwise))
