"""Gives methods of awsglue the parameters of another function, for editors, mypy and `inspect`."""

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def takes_arguments_of(
    model: Callable[P, Any],
) -> Callable[[Callable[..., R]], Callable[Concatenate[Any, P], R]]:
    """Return a decorator of a method that passes its arguments on to a function, or to its like."""

    def declared(method: Callable[..., R]) -> Callable[Concatenate[Any, P], R]:
        parameters = [SELF, *inspect.signature(model).parameters.values()]
        shown = inspect.signature(method).replace(parameters=parameters)
        method.__signature__ = shown  # type: ignore[attr-defined]
        return method

    return declared


def frame_method(
    method: Callable[P, R], frame: str = "frame", **names: str
) -> Callable[Concatenate[Any, P], R]:
    """Return the ``__call__`` of a transform that calls a method of a frame.

    Args:
        method: of `DynamicFrame`, or of a collection.
        frame: what the transform calls the frame, its first argument.
        names: the names that the transform has for other arguments, by those of the method.
    """
    signature = inspect.signature(method)
    owner, *others = signature.parameters.values()
    owner = owner.replace(name=frame, annotation=method.__qualname__.partition(".")[0])
    parameters = [owner, *(one.replace(name=names.get(one.name, one.name)) for one in others)]
    shown = signature.replace(parameters=[SELF, *parameters])

    def call(*args: Any, **kwargs: Any) -> R:
        bound = shown.bind(*args, **kwargs)
        _, given, *rest = bound.args
        found: R = getattr(given, method.__name__)(*rest, **bound.kwargs)
        return found

    call.__signature__ = shown  # type: ignore[attr-defined]
    call.__doc__ = f"Return what `{method.__qualname__}` does."
    return call
