"""How the state of a job or a run is shown: by a word, a sign and a colour."""

from tidemark.report.commits import SUCCEEDED

NEVER = "never ran"
OK, BAD, STOPPED, ACTIVE, NONE = "ok", "bad", "stopped", "active", "none"
SIGNS = {OK: "✓", BAD: "✗", STOPPED: "■", ACTIVE: "▶", NONE: "○"}
STOPPING = ("STOPPED", "STOPPING")
FAILED = ("FAILED", "TIMEOUT", "ERROR", "EXPIRED")


def kind_of(state: str) -> str:
    """Return the kind of a state, among those with their own appearance."""
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
