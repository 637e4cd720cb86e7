"""What two runs would share although each has its own copy of a home: databases, and endpoints."""

from collections.abc import Mapping, Sequence

from tidemark.errors import UsageError

OPTION = "--with-databases"
ENDPOINTS = "AWS_ENDPOINT_URL"


def refuse_shared(writes: Mapping[str, Sequence[int]], environment: Mapping[str, str]) -> None:
    """Raise if both versions would write to the same database or to the same service.

    Reads are left alone: two of them change nothing.
    """
    if places := shared_by_both(writes, environment):
        raise UsageError(
            f"both versions would use the same, and could change it twice: {'; '.join(places)}; "
            f"let the script and its environment use only the lake, or accept it with {OPTION}"
        )


def shared_by_both(
    writes: Mapping[str, Sequence[int]], environment: Mapping[str, str]
) -> list[str]:
    """Return what both versions would use at once: endpoints, and databases by the lines."""
    places = [f"{name} is set" for name in sorted(environment) if name.startswith(ENDPOINTS)]
    places += [
        f"{name}:{line} writes to a database" for name, lines in writes.items() for line in lines
    ]
    return places
