"""Which runs fill a range: by the arguments that `tidemark backfill` starts them with."""

from collections.abc import Mapping

FROM, TO = "--backfill_from", "--backfill_to"
NOT_GIVEN = "none"


def is_filling(arguments: Mapping[str, str]) -> bool:
    """Return whether a run with these arguments fills a range and is not incremental."""
    return arguments.get(FROM, NOT_GIVEN) != NOT_GIVEN
