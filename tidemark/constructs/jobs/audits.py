"""The audits of the data that a job writes, as arguments of its script."""

import json
from collections.abc import Mapping, Sequence

from tidemark.constructs.dataset import Dataset
from tidemark.errors import JobDefinitionError

PREFIX = "audit_of_"


def with_audits(
    arguments: Mapping[str, str | Dataset], writes: Sequence[Dataset]
) -> dict[str, str | Dataset]:
    """Return arguments together with the audits of each dataset that is written, as JSON lists."""
    audits = {
        f"{PREFIX}{name}": json.dumps(data.audit)
        for name, data in arguments.items()
        if isinstance(data, Dataset) and data.audit and data in writes
    }
    return {**audits, **arguments}


def check_audited(
    job: str, writes: Sequence[Dataset], arguments: Mapping[str, str | Dataset], script: str
) -> None:
    """Raise unless the script of a job asks for the audits of all that it writes.

    Raises:
        JobDefinitionError: it would publish what no audit has seen.
    """
    for data in writes:
        names = [f"{PREFIX}{name}" for name, value in arguments.items() if value == data]
        if data.audit and not any(name in script for name in names):
            named = names[0] if names else f"{PREFIX}NAME, where NAME is an argument with the data"
            raise JobDefinitionError(
                f"job '{job}' writes the dataset {data.prefix!r}, which has audits, and its script "
                f"does not name the argument {named}; allowed: a script that gives "
                "json.loads of it to a writer of windows as audit=; add it, or leave audit= out"
            )
