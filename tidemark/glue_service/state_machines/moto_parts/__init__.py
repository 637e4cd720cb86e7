"""The parts of moto's interpreter that are replaced here, each with its reason.

They are replaced in the process at the first use: moto's own Step Functions needs another process.
"""

from tidemark.glue_service.state_machines.moto_parts import branches, choices, tasks, times, values

__all__ = ["branches", "choices", "tasks", "times", "values"]
