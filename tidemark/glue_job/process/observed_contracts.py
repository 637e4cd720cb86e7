"""Notes the contracts of a run: those of its arguments, and those that it applies to frames."""

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from types import ModuleType
from typing import Any

from tidemark.local_state.observed_schemas import note_contract

OF_DATA = "--schema_of_"  # begins the name of an argument
TERMS = ("columns", "types", "missing", "quarantine")


def note_contracts_of(arguments: Sequence[str]) -> None:
    """Note each contract that an argument has, with the value of the argument that has the data."""
    split = (word.split("=", 1) if word.startswith("--") else [word] for word in arguments)
    words = [word for pair in split for word in pair]
    values = dict(pairwise(words))
    for name in [word for word in words if word.startswith(OF_DATA)]:
        with suppress(ValueError, TypeError):  # the script says what is wrong
            place = values.get(f"--{name.removeprefix(OF_DATA)}", "")
            note_contract(dict(json.loads(values[name])), place)


def observe_contracts(module: ModuleType) -> None:
    """Change `watermarks.schema.plan`, so that each contract that is applied is noted."""
    make = module.Plan.of

    def of(_: Any, /, contract: Any, frame: Any, **named: Any) -> Any:
        said = {name: getattr(contract, name) for name in TERMS}
        note_contract({"schema": "" if contract.schema is None else "its own", **said})
        return make(contract, frame, **named)

    module.Plan.of = classmethod(of)
