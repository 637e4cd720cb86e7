"""Compares folders of S3 with parts that only a query knows: pure, on plain data.

Athena works out the folder of a partition from `storage.location.template` of its table.
Source: https://docs.aws.amazon.com/athena/latest/ug/partition-projection-setting-up.html
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product, takewhile
from math import prod
from typing import NamedTuple, TypeAlias

from tidemark.checks.graph.folders import SCHEME

PLACEHOLDER = re.compile(r"\$\{!?([^}]*)\}")
LETTERS = re.compile(r"'[^']*'|([A-Za-z])\1*")
MAX_FOLDERS = 200  # that the values of a template make; with more, any string matches


class Varying(NamedTuple):
    """A folder name with parts that vary, and one of the names it can be."""

    pattern: re.Pattern[str]
    sample: str


# A bucket and the folders in it, one name each.
Address: TypeAlias = tuple[str | Varying, ...]


def address_of(uri: str) -> Address:
    """Return the address of a URI that is known.

    >>> address_of("s3://lake/orders/")
    ('lake', 'orders')
    """
    return tuple(SCHEME.sub("", uri).rstrip("/").split("/"))


def addresses_of(template: str, parameters: Mapping[str, object]) -> list[Address]:
    """Return the addresses that a template of partition projection makes."""
    enums = {
        key: str(parameters.get(f"projection.{key}.values", "")).split(",")
        for key in dict.fromkeys(PLACEHOLDER.findall(template))
        if parameters.get(f"projection.{key}.type") == "enum"
    }
    if prod(map(len, enums.values())) > MAX_FOLDERS:
        enums = {}
    ranges = []
    for values in product(*enums.values()):
        text = template
        for key, value in zip(enums, values, strict=True):
            text = re.sub(rf"\$\{{!?{re.escape(key)}\}}", value.replace("\\", r"\\"), text)
        ranges.append(_address(text, parameters))
    return ranges


def inside(inner: Address, outer: Address) -> bool:
    """Return whether an address is, or may be, at or below another one."""
    return len(inner) >= len(outer) and all(map(_meet, inner, outer))


def literal(address: Address) -> Address:
    """Return the first names of an address, as far as known."""
    return tuple(takewhile(lambda name: isinstance(name, str), address))


def is_certain(inner: Address, outer: Address) -> bool:
    """Return whether that is so of all names, not of some that only a query knows."""
    return inner[: len(outer)] == outer and all(isinstance(name, str) for name in outer)


def _meet(one: str | Varying, other: str | Varying) -> bool:
    names = [name if isinstance(name, str) else name.sample for name in (one, other)]
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    return any(
        isinstance(name, Varying) and name.pattern.fullmatch(text) is not None
        for name, text in zip((one, other), reversed(names), strict=True)
    )


def _address(template: str, parameters: Mapping[str, object]) -> Address:
    # A date of the format yyyy/MM/dd is three folders: they are split once dates are filled in.
    parts = [*_parts(PLACEHOLDER, template, lambda found: _value(found[1], parameters))]
    patterns, texts = (
        SCHEME.sub("", "".join(column)).rstrip("/").split("/")
        for column in zip(*parts, strict=True)
    )
    return tuple(
        text if pattern == re.escape(text) else Varying(re.compile(pattern), text)
        for pattern, text in zip(patterns, texts, strict=True)
    )


def _value(key: str, parameters: Mapping[str, object]) -> tuple[str, str]:
    """Return a pattern of the values of a key, and one of them."""
    kind = parameters.get(f"projection.{key}.type")
    if kind == "integer":
        return r"-?\d+", "1"
    if kind != "date":
        return r"[^\x2f]+", "x"
    text = str(parameters.get(f"projection.{key}.format", "yyyy-MM-dd"))
    parts = [*_parts(LETTERS, text, _date_part)]
    return "".join(pattern for pattern, _ in parts), "".join(sample for _, sample in parts)


def _date_part(match: re.Match[str]) -> tuple[str, str]:
    if match[0].startswith("'"):
        return re.escape(match[0][1:-1]), match[0][1:-1]
    if len(match[0]) == 1:
        return r"\d+", "1"
    if len(match[0]) > 3 and match[1] in "MLE":  # a name, as January
        return "[A-Za-z]+", "May"
    return rf"\w{{{len(match[0])}}}", "1" * len(match[0])


def _parts(
    varying: re.Pattern[str], text: str, read: Callable[[re.Match[str]], tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the parts of a string, each as a pattern and a string that it matches."""
    end = 0
    for match in varying.finditer(text):
        known = text[end : match.start()]
        yield re.escape(known), known
        yield read(match)
        end = match.end()
    yield re.escape(text[end:]), text[end:]
