"""Advice by ids that never change: the catalogue `advice.json`; each source takes its part.

The first digit of `TM301` is the source. docs/reference/advice.md lists all: `make docs`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Advice:
    """What a source finds, and what to do about it.

    Attributes:
        id: such as `TM301`.
        name: what comments and acknowledgements call it, as they may by the id.
        text: what is found, in one sentence.
        remedy: what to do; empty where it depends on what is found.
    """

    id: str
    name: str
    text: str
    remedy: str = ""


@cache
def catalogue() -> Mapping[str, Mapping[str, Any]]:
    """Return the sources by name: title, page, how to accept a finding, and the advice."""
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    sources: dict[str, dict[str, Any]] = json.loads(text)
    return sources


def advice_of(source: str) -> dict[str, Advice]:
    """Return the advice of a source, by name."""
    return {entry["name"]: Advice(**entry) for entry in catalogue()[source]["advice"]}


def name_of(advice: Mapping[str, Advice], name: str) -> str:
    """Return the name of advice that is given by its id; any other string as it is."""
    return next((known.name for known in advice.values() if known.id == name), name)
