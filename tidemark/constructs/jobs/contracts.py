"""The contracts of the data of a job: their arguments, and the folders of what they take out."""

from collections.abc import Mapping, Sequence

from tidemark.constructs.catalog.schema_policy import Folder, check_quarantine
from tidemark.constructs.dataset import Dataset
from tidemark.errors import JobDefinitionError
from watermarks.metrics import QUARANTINED, RESCUED

ARGUMENT = "schema_of_{}"


def held_by(reads: Sequence[Dataset], writes: Sequence[Dataset]) -> list[Dataset]:
    """Return the data that a job holds to a contract: what it writes, and what is delivered."""
    data = (*writes, *(data for data in reads if data.delivered))
    return [data for data in dict.fromkeys(data) if data.schema]


def with_contracts(
    job: str, arguments: Mapping[str, str | Dataset], held: Sequence[Dataset], script: str
) -> dict[str, str | Dataset]:
    """Return arguments together with the contract of each dataset, as JSON.

    Args:
        job: its name.
        arguments: name to a string or a dataset.
        held: data that the job holds to a contract; of other data it gets it if it asks for it.
        script: the source of its script.

    Raises:
        JobDefinitionError: an argument has the name of one of a contract.
    """
    contracts = {
        name: data.schema.json
        for key, data in arguments.items()
        if isinstance(data, Dataset)
        and data.schema
        and ((name := ARGUMENT.format(key)) in script or data in held)
    }
    if both := contracts.keys() & arguments.keys():
        raise JobDefinitionError(
            f"job '{job}' has the argument {min(both)!r}, which is that of the contract of a "
            "dataset; allowed: other names; rename it, or leave schema= of the dataset out"
        )
    return {**arguments, **contracts}


def quarantines_of(
    job: str,
    reads: Sequence[Dataset],
    writes: Sequence[Dataset],
    arguments: Mapping[str, str | Dataset],
    *,
    has_spark: bool,
) -> list[Folder]:
    """Return the folders to which a job takes rows that do not fit.

    Raises:
        JobDefinitionError: the job cannot get a contract or apply it, or a quarantine is not a
            folder of its own.
    """
    held = held_by(reads, writes)
    for data in held:
        if not has_spark or data not in arguments.values():
            why = "no argument tells its script the contract" if has_spark else "it has no Spark"
            raise JobDefinitionError(
                f"job '{job}' holds the dataset {data.prefix!r} to a contract, and {why}; allowed: "
                "a Spark job with the dataset in arguments=; correct it, or leave schema= out"
            )
    quarantines = [
        (data, data.schema.quarantine) for data in held if data.schema and data.schema.quarantine
    ]
    for owner, quarantine in quarantines:
        used = [("the dataset", data) for data in (*reads, *writes)]
        others = [("the quarantine", place) for other, place in quarantines if other != owner]
        check_quarantine(f"job '{job}'", quarantine, [*used, *others])
    return [quarantine for _, quarantine in quarantines]


def metrics_of(reads: Sequence[Dataset], writes: Sequence[Dataset]) -> list[str]:
    """Return the metrics of the watermark library that count what contracts take aside."""
    held = [data.schema for data in held_by(reads, writes) if data.schema]
    rescued = [RESCUED] if any(policy.rescues for policy in held) else []
    return [*rescued, *([QUARANTINED] if any(policy.quarantine for policy in held) else [])]
