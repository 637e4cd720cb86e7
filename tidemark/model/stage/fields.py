"""Takes typed values out of JSON objects, and refuses unknown ones."""

import re
from collections.abc import Mapping

from tidemark.errors import ConfigError, JobDefinitionError, show


class Fields:
    """The fields of one JSON object, each taken once; fields left at the end are unknown."""

    def __init__(
        self,
        value: object,
        where: str,
        remedy: str = "correct it in cdk.json, or the -c option that sets it",
    ) -> None:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where} is {show(value)}; allowed: a JSON object; {remedy}")
        self.left: dict[str, object] = dict(value)
        self.where = where
        self._remedy = remedy
        self._known: list[str] = []

    def take(self, key: str, default: object = ...) -> object:
        """Return the value of a field; without a default the field must be there."""
        self._known.append(key)
        if key not in self.left and default is ...:
            raise ConfigError(
                f"{self.where} has no '{key}'; add it; it has: "
                f"{', '.join(self.left) or 'nothing else'}"
            )
        return self.left.pop(key, default)

    def string(self, key: str, pattern: re.Pattern[str], allowed: str) -> str:
        """Return a string that the whole pattern matches."""
        value = self.take(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise self._not_allowed(key, value, allowed)
        return value

    def optional_string(self, key: str, pattern: re.Pattern[str], allowed: str) -> str | None:
        """Return a string like `string`, or None if the field is null or missing."""
        if self.left.get(key) is None:
            self.take(key, None)
            return None
        return self.string(key, pattern, allowed)

    def choice(self, key: str, allowed: tuple[str, ...], default: object = ...) -> str:
        """Return one of the allowed strings."""
        value = self.take(key, default)
        if not isinstance(value, str) or value not in allowed:
            raise self._not_allowed(key, value, ", ".join(allowed))
        return value

    def number(self, key: str, low: int, high: int, default: object = ...) -> int:
        """Return an integer between two inclusive bounds."""
        value = self.take(key, default)
        if type(value) is not int or not low <= value <= high:  # True is an int, but not a number
            raise self._not_allowed(key, value, f"an integer from {low} to {high}")
        return value

    def optional_number(self, key: str, low: int, high: int) -> int | None:
        """Return a number like `number`, or None if the field is null or missing."""
        if self.left.get(key) is None:
            self.take(key, None)
            return None
        return self.number(key, low, high)

    def number_of(self, key: str, allowed: tuple[int, ...], default: object = ...) -> int:
        """Return one of the allowed numbers."""
        value = self.take(key, default)
        if type(value) is not int or value not in allowed:
            raise self._not_allowed(key, value, ", ".join(map(str, allowed)))
        return value

    def flag(self, key: str, default: object = ...) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self._not_allowed(key, value, "true, false")
        return value

    def strings(self, key: str) -> dict[str, str]:
        """Return an object of strings; an empty one if the field is missing."""
        value = self.take(key, {})
        if not isinstance(value, Mapping) or not all(
            isinstance(name, str) and name and isinstance(string, str)
            for name, string in value.items()
        ):
            raise self._not_allowed(key, value, "a JSON object of strings")
        return dict(value)

    def names(self, key: str, pattern: re.Pattern[str], allowed: str) -> tuple[str, ...]:
        """Return a list of strings that each match a pattern; empty if the field is missing."""
        value = self.take(key, ())
        if not isinstance(value, list | tuple) or not all(
            isinstance(name, str) and pattern.fullmatch(name) for name in value
        ):
            raise self._not_allowed(key, value, allowed)
        return tuple(value)

    def refuse_the_rest(self) -> None:
        """Raise if a field is left that was not read."""
        for key in self.left:
            raise ConfigError(
                f"{self.where} has an unknown key '{key}'; allowed: {', '.join(self._known)}; "
                "remove it, or correct its spelling"
            )

    def _not_allowed(self, key: str, value: object, allowed: str) -> ConfigError:
        return ConfigError(
            f"{self.where} has {key} {show(value)}; allowed: {allowed}; {self._remedy}"
        )


def one_of(name: str, value: object, allowed: tuple[str | bool, ...]) -> None:
    """Raise unless a value is one of those allowed."""
    if value not in allowed or isinstance(value, bool) != isinstance(allowed[0], bool):
        raise JobDefinitionError(
            f"{name} is {value!r}; allowed: {', '.join(map(str, allowed))}; pass one"
        )


def between(name: str, value: object, low: int, high: int) -> None:
    """Raise unless a value is an integer within limits."""
    if type(value) is not int or not low <= value <= high:
        raise JobDefinitionError(
            f"{name} is {value!r}; allowed: an integer from {low} to {high}; pass one"
        )
