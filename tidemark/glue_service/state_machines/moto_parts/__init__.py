"""The parts of moto's interpreter that are replaced here, each with its reason.

They are replaced in the process at the first use: moto's own Step Functions needs another process.
"""

from functools import cache

from tidemark.glue_service.state_machines.moto_parts.branches import (
    replace_branches,
    replace_iterations,
)
from tidemark.glue_service.state_machines.moto_parts.choices import replace_choices
from tidemark.glue_service.state_machines.moto_parts.tasks import replace_tasks
from tidemark.glue_service.state_machines.moto_parts.times import replace_times
from tidemark.glue_service.state_machines.moto_parts.values import replace_values


@cache
def prepare() -> None:
    """Replace the parts of moto that the files here say why."""
    replace_values()
    replace_choices()
    replace_times()
    replace_tasks()
    replace_branches()
    replace_iterations()
