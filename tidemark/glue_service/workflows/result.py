"""How a workflow run ended, for the command that waited for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import JobDefinition


@dataclass(frozen=True)
class WorkflowResult:
    """How a workflow run ended.

    `blocked` maps a job never started to the conditions not met; `deleted_jobs` are those that had
    a bookmark and that the template no longer defines; `begun_by` is the type of the start trigger.
    """

    run_id: str
    jobs: Mapping[str, JobDefinition]
    job_runs: tuple[JobRun, ...]
    blocked: Mapping[str, tuple[str, ...]]
    deleted_jobs: tuple[str, ...] = ()
    begun_by: str = "ON_DEMAND"

    @property
    def is_success(self) -> bool:
        """Whether every job ran and every final run SUCCEEDED."""
        final = {run.job_name: run.state for run in self.job_runs}
        return not self.blocked and all(state == "SUCCEEDED" for state in final.values())
