"""What a contract says: the columns, and a mode for each way in which a frame is otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from watermarks.errors import WatermarkValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

ColumnsMode: TypeAlias = Literal["evolve", "freeze", "discard", "rescue"]
"""What becomes of a column that the schema lacks."""

TypesMode: TypeAlias = Literal["evolve", "freeze", "rescue", "discard_row"]
"""What becomes of a value that does not fit the type of its column."""

MissingMode: TypeAlias = Literal["null", "freeze"]
"""What becomes of a column that the frame lacks."""

RESCUED = "_rescued_data"
_MODES = {"columns": ColumnsMode, "types": TypesMode, "missing": MissingMode}


@dataclass(frozen=True)
class Terms:
    """The attributes of a `Contract`, checked."""

    schema: StructType | str | None = None
    columns: ColumnsMode = "evolve"
    types: TypesMode = "evolve"
    missing: MissingMode = "null"
    rescued: str = RESCUED
    quarantine: str = ""

    def __post_init__(self) -> None:
        given: Mapping[str, Any] = vars(self)  # of any type, such as from JSON
        for name, mode in _MODES.items():
            value, allowed = given[name], get_args(mode)
            if value not in allowed:
                raise WatermarkValueError(
                    f"{name} of the contract is {value!r}: allowed are {', '.join(allowed)}"
                )
        if not str(given["rescued"]).strip() or not isinstance(given["rescued"], str):
            raise WatermarkValueError(f"rescued is {self.rescued!r}: give the name of a column")
        schema = given["schema"]
        is_known = schema is None or hasattr(schema, "fieldNames")
        if not is_known and not (isinstance(schema, str) and schema.strip()):
            raise WatermarkValueError(
                f"the schema of the contract is {schema!r}: give a StructType, or DDL such as "
                "'id BIGINT, amount DECIMAL(10,2)'; None takes the columns of the frame"
            )
        if not isinstance(given["quarantine"], str):
            raise WatermarkValueError(f"quarantine is {self.quarantine!r}: give a folder as text")
        if self.quarantine and self.types != "discard_row":
            raise WatermarkValueError(
                f"quarantine is {self.quarantine!r}, and types is {self.types!r}, which takes no "
                'row out: give types="discard_row", or no quarantine'
            )
