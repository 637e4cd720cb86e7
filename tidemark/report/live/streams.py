"""Server-sent events: a browser gets a part of its page again when it has changed.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import threading
from collections.abc import Callable, Iterator

LOOK_S = 0.5
PING_S = 1.0  # a line that shows whether the browser is still there
MAX_STREAMS = 24  # each keeps a thread of the port


class Streams:
    """The streams that are open, at most `MAX_STREAMS`."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._open = 0
        self._is_closed = threading.Event()

    def claim(self) -> bool:
        """Return whether one more stream may be opened; it counts from now on."""
        with self._lock:
            if self._open >= MAX_STREAMS or self._is_closed.is_set():
                return False
            self._open += 1
            return True

    def close(self) -> None:
        """End all streams."""
        self._is_closed.set()

    def events(self, state: Callable[[], object], body: Callable[[], str]) -> Iterator[bytes]:
        """Yield a claimed stream: the body now, and again whenever the state is another one."""
        shown: object = None
        sent = ""
        quiet_s = 0.0
        try:
            while not self._is_closed.is_set():
                now = state()
                if now != shown:
                    shown, quiet_s = now, 0.0
                    if (made := body()) != sent:
                        sent = made
                        yield event(made)
                elif quiet_s >= PING_S:
                    quiet_s = 0.0
                    yield b": still here\n\n"
                quiet_s += LOOK_S
                self._is_closed.wait(LOOK_S)
        finally:
            with self._lock:
                self._open -= 1


def event(body: str) -> bytes:
    """Return one event with a body of several lines."""
    lines = "".join(f"data: {line}\n" for line in body.splitlines())
    return f"{lines}\n".encode("utf-8", "backslashreplace")
