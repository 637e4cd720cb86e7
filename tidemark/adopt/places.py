"""Guesses the data that a job reads and writes from its arguments: pure, on strings."""

import re
from collections.abc import Mapping

from tidemark.adopt.model import Folder

ADDRESS = re.compile(r"s3[an]?://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/(.*)", re.DOTALL)
# What `Dataset` takes for a folder.
PREFIX = re.compile(r"(?=.{1,900}\Z)((?!\.{1,2}/)[A-Za-z0-9_.=-]+/)+")
FILE = re.compile(r"[^/]*\.[A-Za-z0-9]{1,7}")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
INPUT = {"source", "src", "input", "inputs", "in", "read", "from", "landing", "incoming"}
OUTPUT = {"target", "tgt", "output", "outputs", "out", "dest", "destination", "sink", "write"}
OUTPUT |= {"to", "result", "results"}


def is_address(text: str) -> bool:
    """Return whether a string is an address in S3."""
    return text.startswith(("s3://", "s3a://", "s3n://"))


def place_of(text: str) -> Folder | None:
    """Return the folder that an address is of; that of a file is the folder it lies in."""
    match = ADDRESS.fullmatch(text)
    if not match:
        return None
    bucket, key = match.groups()
    folder, slash, last = key.rpartition("/")
    prefix = key if not last else f"{folder}{slash}" if FILE.fullmatch(last) else f"{key}/"
    return Folder(bucket, prefix) if PREFIX.fullmatch(prefix) else None


def direction_of(name: str) -> str | None:
    """Return `in` or `out` if the name of an argument suggests it."""
    words = [word.lower() for word in WORD.findall(name)]
    is_in, is_out = (not known.isdisjoint(words) for known in (INPUT, OUTPUT))
    return None if is_in == is_out else "in" if is_in else "out"


def places_of(arguments: Mapping[str, str]) -> dict[str, Folder]:
    """Return the arguments that are addresses, with the folders they are of."""
    places = {name: place_of(text) for name, text in arguments.items() if is_address(text)}
    return {name: place for name, place in places.items() if place}
