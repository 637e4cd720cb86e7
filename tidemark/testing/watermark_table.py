"""The fixture `watermarks`: the table of watermarks of one test, in the embedded DynamoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.local_state.machine.loopback import show_endpoint
from tidemark.testing.kit import WATERMARKS

if TYPE_CHECKING:
    from watermarks import WatermarkAdmin


class WatermarkTable:
    """A table of watermarks; as a string it is the table's name, which a job can get as argument.

    It has all methods of `watermarks.WatermarkAdmin`: `latest`, `advance`, `history`, `rewind` and
    so on.
    """

    def __init__(self, endpoint: str, admin: WatermarkAdmin) -> None:
        """Take the URL of DynamoDB, and what reads and writes the table."""
        self.endpoint = endpoint
        self.name = self.table_name = WATERMARKS
        self._admin = admin

    def __str__(self) -> str:
        return self.table_name

    def __repr__(self) -> str:
        return f"watermarks in {self.table_name} at {show_endpoint(self.endpoint)}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._admin, name)
