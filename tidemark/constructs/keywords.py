"""Tells of an argument that a construct does not have, or lacks, with the name that was meant."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from typing import Any

from tidemark.errors import JobDefinitionError

OWN = "tidemark."
_CLEAR = "_tells_of_keywords"


class WrongArgumentError(JobDefinitionError, TypeError):
    """A call has an unknown argument, or lacks a required one."""


def with_clear_keywords(public: Any) -> Any:
    """Return a public class whose calls tell of wrong arguments; anything else as it is.

    Its own methods, and those of the classes that it is made of, are wrapped in place, once.

    Example:
        `pipeline.add_job("orders", reeds=[raw])` raises "add_job has no argument 'reeds'; did you
        mean 'reads'? ...".
    """
    if isinstance(public, type):
        for owner in public.__mro__:
            if owner.__module__.startswith(OWN):
                for name, method in list(vars(owner).items()):
                    if _is_declaration(name, method):
                        setattr(owner, name, _clear(name, method, owner.__name__))
    return public


def _is_declaration(name: str, method: object) -> bool:
    is_named_so = name == "__init__" or name.startswith("add_") or name == "add"
    return is_named_so and inspect.isfunction(method) and not hasattr(method, _CLEAR)


def _clear(name: str, method: Callable[..., Any], owner: str) -> Callable[..., Any]:
    signature = inspect.signature(method)
    called = owner if name == "__init__" else name

    @wraps(method)
    def call(*given: Any, **keywords: Any) -> Any:
        try:
            signature.bind(*given, **keywords)
        except TypeError as error:
            raise WrongArgumentError(_told(called, signature, keywords, str(error))) from None
        return method(*given, **keywords)

    setattr(call, _CLEAR, True)
    return call


def _told(called: str, signature: inspect.Signature, keywords: dict[str, Any], problem: str) -> str:
    known = [name for name in signature.parameters if name != "self"]
    allowed = ", ".join(known) or "none"
    unknown = [name for name in keywords if name not in known]
    if not unknown:
        return f"{called}: {problem}; allowed: {allowed}; correct the call"
    near = get_close_matches(unknown[0], known, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"{called} has no argument {unknown[0]!r}; {meant}allowed: {allowed}; correct the call"
