"""Short ways to start job runs and to wait for them: the same on a served home and an account."""

from __future__ import annotations

from typing import Any

from tests.waiting import wait_until

FINAL = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR")


class JobRunCalls:
    """Calls of a client of Glue."""

    glue: Any

    def start(self, name: str, **members: Any) -> str:
        return str(self.glue.start_job_run(JobName=name, **members)["JobRunId"])

    def run(self, name: str, run_id: str) -> dict[str, Any]:
        answer = self.glue.get_job_run(JobName=name, RunId=run_id, PredecessorsIncluded=True)
        return dict(answer["JobRun"])

    def ended(self, name: str, run_id: str) -> dict[str, Any]:
        wait_until(lambda: self.run(name, run_id)["JobRunState"] in FINAL)
        return self.run(name, run_id)

    def states(self, name: str) -> list[str]:
        """Return the states of the runs of a job, the newest first."""
        return [run["JobRunState"] for run in self.glue.get_job_runs(JobName=name)["JobRuns"]]
