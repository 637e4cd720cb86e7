"""What runs of a home that is proved may reach outside it, and what they have reached."""

import json
from collections.abc import Collection, Sequence

from tidemark.local_state.home import Home
from tidemark.local_state.machine.own_files import append_line, read_lines

PROVED = "proved"  # a file of homes of experiments, with what their runs may reach elsewhere
OUTSIDE = "outside.jsonl"  # a file of such a home: what runs have reached elsewhere


def withhold_others(home: Home, allowed: Sequence[str] = ()) -> None:
    """Let the runs of a home change nothing elsewhere, but at hosts and paths that are allowed."""
    (home.root / PROVED).write_text(json.dumps(list(allowed)), encoding="utf-8")


def allowed_outside(home: Home) -> list[str]:
    """Return the hosts and paths that runs of a home may reach outside it."""
    file = home.root / PROVED
    allowed: list[str] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return allowed


def is_within(what: str, allowed: Collection[str]) -> bool:
    """Return whether a host, a program or a file is one of those allowed.

    Example:
        >>> is_within("api.shop.example:443", ["api.shop.example"])
        True
        >>> is_within("/data/rates.csv", ["/data"]), is_within("/database", ["/data"])
        (True, False)
    """
    name = what.removeprefix("the program ")
    host = name.rpartition(":")[0]
    return any(door in (name, host) or name.startswith(f"{door.rstrip('/')}/") for door in allowed)


def note_outside(home: Home, what: str) -> None:
    """Note what a run of the home reaches outside it."""
    append_line(home.root / OUTSIDE, what)


def read_outside(home: Home) -> list[str]:
    """Return what runs of the home have reached outside it, or tried to, in order."""
    return list(map(str, read_lines(home.root / OUTSIDE)))


def withholds_others(home: Home) -> bool:
    """Return whether the runs of a home change nothing elsewhere."""
    return (home.root / PROVED).is_file()
