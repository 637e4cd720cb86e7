"""A venv with other pins has the packages of one lock, in the versions of another."""

from __future__ import annotations

import re

from tools.own_venv import with_pins
from tools.semantics_doc import PROJECT
from tools.set_up import ALL

LOCK, GLUE_6 = PROJECT / ALL, PROJECT / "requirements" / "glue6.txt"


def pinned(text: str) -> list[tuple[str, str]]:
    """Return the packages of a lock, each with its version; one may have two, by platform."""
    pins = re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+).*\\\n    --hash=sha256:", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[\w.-]+.*==", text, re.MULTILINE))
    return pins


def test_pins_replace_the_versions_and_hashes_of_a_lock():
    pins = dict(pinned(GLUE_6.read_text(encoding="utf-8")))

    mixed = with_pins(LOCK, GLUE_6)

    before = pinned(LOCK.read_text(encoding="utf-8"))
    assert pinned(mixed) == [(name, pins.get(name, version)) for name, version in before]
    assert {name for name, _ in set(before) - set(pinned(mixed))} == set(pins)
    assert GLUE_6.read_text(encoding="utf-8").split("\npy4j")[0] in mixed  # with its hashes


def test_a_lock_alone_stays_as_it_is():
    assert with_pins(LOCK) == LOCK.read_text(encoding="utf-8")
