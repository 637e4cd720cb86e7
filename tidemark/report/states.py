"""How the state of a job or a run is shown: by a word and a sign, and a colour beside them."""

from tidemark.report.commits import SUCCEEDED

NEVER = "never ran"
OK, BAD, STOPPED, ACTIVE, NONE = "ok", "bad", "stopped", "active", "none"
SIGNS = {OK: "✓", BAD: "✗", STOPPED: "■", ACTIVE: "▶", NONE: "○"}
STOPPING = ("STOPPED", "STOPPING")
FAILED = ("FAILED", "TIMEOUT", "ERROR", "EXPIRED")


def kind_of(state: str) -> str:
    """Return which of the kinds that have a look of their own a state is of."""
    if state == SUCCEEDED:
        return OK
    if state in FAILED:
        return BAD
    if state in STOPPING:
        return STOPPED
    return NONE if state == NEVER else ACTIVE


def with_sign(state: str) -> str:
    """Return a state for people, such as `✓ SUCCEEDED`."""
    return f"{SIGNS[kind_of(state)]} {state}"
