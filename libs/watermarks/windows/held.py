"""The columns of targets that a window starts from, changes, and has been refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from watermarks.errors import WatermarkValueError
from watermarks.table.requests import Condition, number, update_request
from watermarks.table.schemas import RefusedSchema, TargetSchema, has_room

from .window import DISABLE, REFUSE, Window

if TYPE_CHECKING:
    from watermarks.table.schema import Table

Refuse: TypeAlias = Callable[[Window, RefusedSchema], None]
"""Notes beside the watermark what a contract has refused."""


def held_schema(window: Window, target: str) -> TargetSchema | None:
    """Return the columns of a target that a window starts from, or has changed already."""
    if target in window.schemas:
        return window.schemas[target]
    return window.base.schemas.get(target) if window.base else None


def hold_schema(window: Window, target: str, held: TargetSchema | None) -> None:
    """Let the commit of a window write the columns of a target; None drops those held."""
    before = window.base.schemas if window.base else {}
    after = {**window.schemas, target: held}
    if held == before.get(target):
        del after[target]
    if not has_room(*{**before, **after}.values()):
        raise WatermarkValueError(
            f"the columns of {target} have no room beside the watermarks of {window.owner}, in an "
            "item of DynamoDB, which keeps 400 KB: give the contract the columns as schema=, and "
            "modes that add none, or give this target a source= of its own"
        )
    window.schemas.clear()
    window.schemas.update(after)


def with_refuse(window: Window, refuse: Refuse | None) -> Window:
    """Return a window with what notes a refusal; one that no table keeps has none."""
    window.__dict__[REFUSE] = None if window.job_bookmark_option == DISABLE else refuse
    return window


def note_refused(window: Window, refused: RefusedSchema) -> bool:
    """Note what a contract has refused; return whether there is a table of watermarks for it."""
    refuse: Refuse | None = window.__dict__.get(REFUSE)
    if refuse is None or not has_room(refused):
        return False
    refuse(window, refused)
    return True


def refusal_request(table: Table, window: Window, refused: RefusedSchema) -> dict[str, Any]:
    """Return the write of a refusal; it fails if the window is another attempt's by now."""
    is_ours: Condition = (
        "wmWindows.#cursor.attempt = :attempt",
        {":attempt": number(window.attempt)},
    )
    key, sets = window.owner.key(window.owner.head), {"wmRefused": {"S": refused.text}}
    request = update_request(table, key, sets, is_ours)
    return request | {"ExpressionAttributeNames": {"#cursor": window.cursor}}
