"""The metrics of earlier evaluations, kept for dynamic rules in a file per job.

A line per evaluation is appended when it is done, as AWS publishes it then, whatever the run does
after it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tidemark.glue_job.process.bookmark_session import current_session
from tidemark.local_state.job_run import is_local_run, job_home

FOLDER = "data_quality"


@dataclass(frozen=True)
class History:
    """The metrics of one evaluation context of a job.

    Attributes:
        file: the lines of all contexts of the job; None keeps nothing.
        context: its name.
    """

    file: Path | None = None
    context: str = ""

    @classmethod
    def of_run(cls, publishing_options: Mapping[str, Any] | None) -> "History":
        """Return the history of this job run; None outside a run, or before Job.init."""
        session = current_session()
        if session is None or not is_local_run():
            return cls()
        name = quote(session.job_name, safe=" ")
        context = str((publishing_options or {}).get("dataQualityEvaluationContext", ""))
        return cls(job_home().root / FOLDER / f"{name}.jsonl", context)

    def past(self, metric: str) -> list[float]:
        """Return the values that a metric had, the newest first."""
        if self.file is None or not self.file.exists():
            return []
        values = []
        for line in self.file.read_text(encoding="utf-8").splitlines():
            try:
                context, metrics = json.loads(line)
            except ValueError:  # the end of a line of a process that was killed
                continue
            if context == self.context and metric in metrics:
                values.append(float(metrics[metric]))
        return values[::-1]

    def keep(self, metrics: Mapping[str, float]) -> None:
        """Append the metrics of an evaluation."""
        if self.file is None:
            return
        self.file.parent.mkdir(exist_ok=True)
        line = f"\n{json.dumps([self.context, dict(metrics)])}\n"
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
