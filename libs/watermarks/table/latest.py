"""The current watermarks of a job or a source, as read from the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .schemas import RefusedSchema, TargetSchema

DEFAULT_KEY = "watermarks"
Attribute: TypeAlias = dict[str, Any]
"""A value in DynamoDB's form: `{"S": "a string"}`."""

Item: TypeAlias = dict[str, Attribute]
"""A row in DynamoDB's form."""


@dataclass(frozen=True)
class Latest:
    """The current watermarks of a job or a source, and the row of its history that holds them.

    Attributes:
        run_id: the run whose watermarks these are.
        version: counts the commits, without gaps; 0 for a row that has no head yet.
        watermarks: the values, each with the type it was written with.
        source: the source of the job that they are of; empty for the job itself.
        key: the attribute of the row that holds them.
        log: sort key of the row that made this version; empty means the run's row.
        prev: sort key of the row before that one; empty for the first.
        prev_version: the version of that row.
        committed: the windows that the run of this version has committed, by id.
        bounds: the end that belongs to a cursor's windows, by the cursor's name.
        is_typed: whether the types are stored; the v1 class stores only numbers and strings.
        schemas: the columns that contracts keep, by target; empty without contracts.
        refused: what a contract has refused since, if any.
    """

    run_id: str
    version: int
    watermarks: dict[str, Any]
    source: str = field(default="", repr=False)
    key: str = field(default=DEFAULT_KEY, repr=False)
    log: str = field(default="", repr=False)
    prev: str = field(default="", repr=False)
    prev_version: int = field(default=0, repr=False, compare=False)
    committed: Item = field(default_factory=dict, repr=False)
    bounds: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    is_typed: bool = field(default=True, repr=False, compare=False)
    schemas: dict[str, TargetSchema] = field(default_factory=dict, repr=False, compare=False)
    refused: RefusedSchema | None = field(default=None, repr=False, compare=False)
