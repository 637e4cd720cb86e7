"""When something of interactive sessions is due, in epoch milliseconds."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class SessionTimes:
    """The times of a port's sessions.

    Attributes:
        to_end: when a cancelled statement must have ended, by run and number.
        to_stop: when a session that was asked to end is ended, by run.
        idle_at: when a session is to be looked at, since it may be idle for too long, by run.
        before_statement: called with the code of each statement before it is taken; what it raises
            is the answer.
    """

    to_end: dict[tuple[str, int], int] = field(default_factory=dict)
    to_stop: dict[str, int] = field(default_factory=dict)
    idle_at: dict[str, int] = field(default_factory=dict)
    before_statement: Callable[[str], None] = lambda _: None
