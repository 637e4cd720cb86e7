"""What the template says of a job for the checks and the local Glue, and Glue does not read."""

from collections.abc import Mapping, Sequence

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.job_kind import JobKind


def metadata_of(
    reads: Sequence[Dataset],
    writes: Sequence[Dataset],
    tables: Sequence[str],
    kind: JobKind,
    not_secret: Mapping[str, str],
) -> dict[str, object]:
    """Return the metadata of a job, as `tidemark.assembly.template` reads it."""
    return {
        "reads": [
            {"uri": data.uri, **({"delivered": True} if data.delivered else {}), **_table(data)}
            for data in reads
        ],
        "writes": [
            *(
                {"uri": data.uri, **({"published": True} if data.published else {}), **_table(data)}
                for data in writes
            ),
            *({"uri": data.uri, "published": True} for data in kind.keeps),  # none reads it
        ],
        **({"tables": list(tables)} if tables else {}),
        **(kind.metadata or {}),
        **({"notSecret": dict(not_secret)} if not_secret else {}),
    }


def _table(data: Dataset) -> dict[str, str]:
    return {"table": data.table.full_name} if data.table else {}
