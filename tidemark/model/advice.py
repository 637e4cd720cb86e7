"""Advice by ids that never change: the catalogue `advice.json`; each source takes its part.

The first digit of `TM301` is the source. docs/reference/advice.md lists all: `make docs`.
"""

import json
import re
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
        remedy: what to do, with names in braces; empty where it depends on what is found.
        match: a regular expression that the message of an error has, of advice about errors.
        setting: an argument of the job that makes the difference too; empty without one.
    """

    id: str
    name: str
    text: str
    remedy: str = ""
    match: str = ""
    setting: str = ""

    def says(self, **values: str) -> str:
        """Return the remedy, with values in place of names in braces, and the id."""
        return f"{self.remedy.format(**values)} ({self.id})"


@cache
def catalogue() -> Mapping[str, Mapping[str, Any]]:
    """Return the sources by name: title, page, how to accept a finding, and the advice."""
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    sources: dict[str, dict[str, Any]] = json.loads(text)
    return sources


@cache
def advice_of(source: str) -> Mapping[str, Advice]:
    """Return the advice of a source, by name."""
    return {entry["name"]: Advice(**entry) for entry in catalogue()[source]["advice"]}


def advice_on(source: str, error: str) -> Advice | None:
    """Return the first advice of a source that matches the message of an error; None without."""
    known = (advice for advice in advice_of(source).values() if advice.match)
    return next((advice for advice in known if re.search(advice.match, error)), None)


def name_of(advice: Mapping[str, Advice], name: str) -> str:
    """Return the name of advice that is given by its id; any other string as it is."""
    return next((known.name for known in advice.values() if known.id == name), name)
