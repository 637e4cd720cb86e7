"""Notes the contracts of a run: given by arguments, applied to frames; and what these put aside."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from types import ModuleType
from typing import Any

from tidemark.local_state.observed_schemas import note_contract
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.messages import plural

OF_DATA = "--schema_of_"  # begins the name of an argument
TERMS = ("columns", "types", "missing", "quarantine")
ASIDE = {"RescuedRows": RunWarning.ROWS_RESCUED, "QuarantinedRows": RunWarning.ROWS_QUARANTINED}
_aside = Counter[tuple[str, str]]()  # rows by metric and target


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
        schema = getattr(contract.schema, "names", contract.schema or "")
        note_contract({"schema": schema if isinstance(schema, str) else " ".join(schema), **said})
        return make(contract, frame, **named)

    module.Plan.of = classmethod(of)


def observe_reports(module: ModuleType) -> None:
    """Change `watermarks.metrics`, so that rows which windows put aside are counted."""
    make = module.rows_report

    def rows_report(job_id: str, metric: str, rows: int, target: str, now: datetime) -> Any:
        _aside[metric, target] += rows
        return make(job_id, metric, rows, target, now)

    module.rows_report = rows_report  # type: ignore[attr-defined]


def note_rows_aside() -> None:
    """Warn of the rows that this process has rescued or taken out, once for each target."""
    for (metric, target), rows in _aside.items():
        note(ASIDE[metric], f"{plural(rows, 'row')} of {target}")
