"""The jobs downstream of a backfill that do not see what it loads."""

from collections.abc import Iterable, Sequence

from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.rewind.datasets import Flow, joined, last_datasets
from tidemark.operate.rewind.effects import how_read


def blind_readers(job: str, jobs: Iterable[str], checkpoints: Sequence[Checkpoint]) -> list[Flow]:
    """Return what is read by a key of the rows that a backfill brings about, in order of the jobs.

    A job that reads files, or everything, sees the rows at its next run and passes them on to the
    jobs downstream of it. One that reads by a watermark or a column sees none behind its position.
    """
    in_order = sorted(checkpoints, key=lambda it: it.committed_at_ms)
    datasets = joined(*last_datasets(jobs, in_order))
    reached, todo, found = {job}, [job], []
    while todo:
        for flow in datasets.out_of(todo.pop()):
            if how_read(flow.read) == "keys":
                found.append(flow)
            elif flow.reader not in reached:
                reached.add(flow.reader)
                todo.append(flow.reader)
    return [flow for flow in datasets.flows if flow in found and flow.reader != job]
