"""The contracts of the data of a job: their arguments, and the folders of what they take out."""

from collections.abc import Mapping, Sequence

from tidemark.constructs.catalog.schema_policy import Folder, check_quarantine
from tidemark.constructs.dataset import Dataset
from tidemark.errors import JobDefinitionError


def held_by(reads: Sequence[Dataset], writes: Sequence[Dataset]) -> list[Dataset]:
    """Return the data that a job holds to a contract: what it writes, and what is delivered."""
    data = (*writes, *(data for data in reads if data.delivered))
    return [data for data in dict.fromkeys(data) if data.schema]


def with_contracts(
    arguments: Mapping[str, str | Dataset], held: Sequence[Dataset], script: str
) -> dict[str, str | Dataset]:
    """Return arguments together with the contract of each dataset, as JSON.

    Args:
        arguments: name to a string or a dataset; one named like that of a contract replaces it.
        held: data that the job holds to a contract; of other data it gets it if it asks for it.
        script: the source of its script.
    """
    contracts = {
        name: data.schema.argument
        for key, data in arguments.items()
        if isinstance(data, Dataset)
        and data.schema
        and ((name := f"schema_of_{key}") in script or data in held)
    }
    return {**contracts, **arguments}


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
    taken = {data: to for data in held if data.schema and (to := data.schema.quarantine)}
    for owner, place in taken.items():
        others = [other for data, other in taken.items() if data != owner]
        check_quarantine(f"job '{job}'", place, [*reads, *writes, *others])
    return list(taken.values())


def metrics_of(reads: Sequence[Dataset], writes: Sequence[Dataset]) -> list[str]:
    """Return the metrics of the watermark library that count what contracts take aside."""
    held = [data.schema for data in held_by(reads, writes) if data.schema]
    rescued = ["RescuedRows"] if any(policy.rescues for policy in held) else []
    return [*rescued, *(["QuarantinedRows"] if any(policy.quarantine for policy in held) else [])]
