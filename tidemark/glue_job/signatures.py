"""Signatures of awsglue methods, for editors and `inspect`; self-descriptions of transforms."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def takes_arguments_of(
    model: Callable[P, Any],
) -> Callable[[Callable[..., R]], Callable[Concatenate[Any, P], R]]:
    """Return a decorator for a method that passes its arguments on to a function like this one."""

    def declared(method: Callable[..., R]) -> Callable[Concatenate[Any, P], R]:
        parameters = [SELF, *inspect.signature(model).parameters.values()]
        shown = inspect.signature(method).replace(parameters=parameters)

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> R:
            _bind(method.__qualname__, shown, args, kwargs)
            return method(*args, **kwargs)

        call.__signature__ = shown  # type: ignore[attr-defined]
        return call

    return declared


def frame_method(method: Callable[P, R], frame: str = "frame", **names: str) -> Callable[..., R]:
    """Return the ``__call__`` of a transform that calls a method of a frame, its first argument.

    Other names are the transform's, by those of the method.
    """
    signature = inspect.signature(method)
    owner, *others = signature.parameters.values()
    owner = owner.replace(name=frame, annotation=method.__qualname__.partition(".")[0])
    parameters = [
        owner,
        *(
            parameter.replace(name=names.get(parameter.name, parameter.name))
            for parameter in others
        ),
    ]
    shown = signature.replace(parameters=[SELF, *parameters])

    def call(*args: Any, **kwargs: Any) -> R:
        bound = _bind(type(args[0]).__name__, shown, args, kwargs)
        _, given, *rest = bound.args
        result: R = getattr(given, method.__name__)(*rest, **bound.kwargs)
        return result

    call.__name__ = "__call__"
    call.__signature__ = shown  # type: ignore[attr-defined]
    call.__doc__ = f"Return what `{method.__qualname__}` does."
    return call


def _bind(
    name: str, shown: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    try:
        return shown.bind(*args, **kwargs)
    except TypeError as error:
        # The error of `bind` does not say what was called.
        raise TypeError(f"{name}() {error}") from None


# Arguments that transforms share; AWS's guide describes the others.
ARGUMENTS = {
    "frame": "the frame that is transformed",
    "frame1": "the first frame",
    "frame2": "the second frame",
    "paths": "full paths of fields",
    "path": "full path of a field, or of a folder",
    "mappings": "source path, source type, target path and target type of each field",
    "case_sensitive": "whether names of sources are case-sensitive",
    "specs": "path and action of each choice",
    "choice": "one action for all choices",
    "transformation_ctx": "identifies the step and its state",
    "info": "a note for the errors of the step",
    "stageThreshold": "how many errors of the step are allowed; 0 is any number",
    "totalThreshold": "how many errors so far are allowed; 0 is any number",
}


def _name(annotation: Any) -> str:
    return annotation.__name__ if inspect.isclass(annotation) else str(annotation)


class Described:
    """A transform whose descriptions come from its code."""

    @classmethod
    def describeArgs(cls) -> list[dict[str, Any]]:  # noqa: N802 (AWS's names)
        """Return the arguments: name, type, description, optional and defaultValue of each."""
        call: Callable[..., Any] = cls.__call__
        described = []
        for parameter in list(inspect.signature(call).parameters.values())[1:]:
            name, default = parameter.name, parameter.default
            fields = {
                "name": name,
                "type": _name(parameter.annotation),
                "description": ARGUMENTS.get(name, name.replace("_", " ")),
                "optional": default is not parameter.empty
                or parameter.kind is parameter.VAR_KEYWORD,
                "defaultValue": None if default in (parameter.empty, None) else str(default),
            }
            described.append(fields)
        return described

    @classmethod
    def describeTransform(cls) -> str:  # noqa: N802
        """Return what the transform does."""
        return inspect.getdoc(cls) or ""

    @classmethod
    def describeErrors(cls) -> list[dict[str, Any]]:  # noqa: N802
        """Return no errors, as on AWS."""
        return []

    @classmethod
    def describeReturn(cls) -> dict[str, Any]:  # noqa: N802
        """Return the type and the description of the result."""
        call: Callable[..., Any] = cls.__call__
        kind = _name(inspect.signature(call).return_annotation)
        return {"type": kind, "description": f"{kind} after the transform"}
