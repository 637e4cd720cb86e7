"""Names of the new jobs and of variables: pure, on strings."""

import keyword
import re
from collections.abc import Iterable

MAX_JOB_NAME, MAX_PIPELINE_NAME = 255, 64
# Construct ids that a pipeline has itself, as the names of jobs that would get them.
PIPELINE_IDS = {"workflow", "start", "libs", "security", "operations", "validation"}


def kebab_case(name: str) -> str:
    """Return a name in kebab case, a letter first."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    text = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "job"
    return text if text[0].isalpha() else f"job-{text}"


def free_name(old: str, taken: Iterable[str], most: int) -> str:
    """Return a name in kebab case that nothing has in any case: the old one so spelt, or -v2.

    Glue refuses a second job of a name, and construct ids must differ too: `a-trigger` would be in
    the way of the trigger of `a`.
    """
    taken = {name.lower() for name in taken}
    ids = {_id(name) for name in taken}
    base = kebab_case(old)[: most - 4].rstrip("-")
    number = 1
    while True:
        name = base if number == 1 else f"{base}-v{number}"
        id_ = _id(name)
        is_free = name not in taken and name not in PIPELINE_IDS
        if is_free and not {id_, f"{id_}trigger", id_.removesuffix("trigger")} & ids:
            return name
        number += 1


class Variables:
    """Gives out names for variables, each once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def name(self, text: str) -> str:
        """Return an unused name made from a string."""
        base = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_") or "data"
        base = f"of_{base}" if base[0].isdigit() or keyword.iskeyword(base) else base
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


def _id(name: str) -> str:
    return name.replace("-", "")
