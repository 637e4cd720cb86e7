"""Refuses values of a runtime that Glue does not allow."""

from tidemark.errors import JobDefinitionError


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
