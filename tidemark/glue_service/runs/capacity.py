"""The capacity of a job, by which AWS bills; on this machine it is only told.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.model.assembly.definitions import SHELL, SPARK

DPU_OF_WORKER = {
    "Standard": 1.0,
    "G.025X": 0.25,
    **{f"G.{size}X": float(size) for size in (1, 2, 4, 8, 12, 16)},
    **{f"R.{size}X": float(size) for size in (1, 2, 4, 8)},
    "Z.2X": 2.0,
}
DPU_OF_SHELL = 0.0625
DPU = 10.0  # of a Spark job that states none


@dataclass(frozen=True)
class Capacity:
    """How much a job run may use."""

    dpu: float
    worker_type: str | None = None
    number_of_workers: int | None = None

    def members(self) -> dict[str, Any]:
        """Return the members of a Job or a JobRun that tell it."""
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
        return Capacity(DPU_OF_WORKER[worker_type] * number, worker_type, number)
    is_shell = definition["Command"].get("Name", SPARK) == SHELL
    otherwise = stated.get("AllocatedCapacity") or (DPU_OF_SHELL if is_shell else DPU)
    return Capacity(float(stated.get("MaxCapacity") or otherwise))
