"""Writes values as Python: pure, value in, source out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields

from tidemark.adopt.model import Folder, Member, Runtime
from tidemark.model.stage.runtime import ShellCapacity

ALWAYS = ("capacity", "worker_type", "number_of_workers", "timeout_minutes", "glue_version")


def quoted(text: str) -> str:
    """Return a string literal of Python."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    # JSON writes characters beyond 16 bits as two halves, which are not characters in Python.
    escaped = (f"\\U{ord(c):08x}" if ord(c) > 0xFFFF else json.dumps(c)[1:-1] for c in text)
    return f'"{"".join(escaped)}"'


def runtime_call(runtime: Runtime) -> str:
    """Return the call that creates a runtime: values that differ from the default, or matter."""
    default = type(runtime)()
    given = {
        field.name: getattr(runtime, field.name)
        for field in fields(runtime)
        if field.name in ALWAYS or getattr(runtime, field.name) != getattr(default, field.name)
    }
    return call(type(runtime).__name__, given, {})


def call(kind: str, given: Mapping[str, object], datasets: Mapping[Folder, str]) -> str:
    """Return the call that creates a group of settings; empty without any."""
    texts = [f"{name}={literal(value, datasets)}" for name, value in given.items()]
    return f"{kind}({', '.join(texts)})" if texts else ""


def literal(value: object, datasets: Mapping[Folder, str]) -> str:
    """Return a value as Python writes it; a place is the variable of its dataset."""
    match value:
        case Folder():
            return datasets[value]
        case Member():
            return f"{value.of}.{value.name}"
        case ShellCapacity():
            return f"ShellCapacity.{value.name}"
        case str():
            return quoted(value)
        case Mapping():
            parts = (f"{quoted(str(k))}: {literal(part, datasets)}" for k, part in value.items())
            return f"{{{', '.join(parts)}}}"
        case tuple() | list():
            return list_of(literal(part, datasets) for part in value)
    return repr(value)


def list_of(parts: Iterable[str]) -> str:
    """Return parts as a list of Python."""
    return f"[{', '.join(parts)}]"
