"""The record that functions of a script get, free of Spark."""

from typing import Any


class Record(dict[str, Any]):
    """A row as a function of the script gets it.

    A record of Glue lacks the fields that its JSON or item lacks; a row has them all. So ``in`` and
    `get` take a field without a value as one that is not there; asked for by name it is None.
    """

    def __contains__(self, key: object) -> bool:
        return super().get(key) is not None  # type: ignore[call-overload]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a field; the default if it has none."""
        value = super().get(key)
        return default if value is None else value
