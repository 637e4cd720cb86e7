"""The embedded DynamoDB engine, started by the first request: most scripts send none."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

from tidemark.errors import DiskFullError, TidemarkError, UsageError
from tidemark.local_state.engine.closed_port import Answer, ClosedPort
from tidemark.local_state.engine.embedded import embedded_engine, tidy
from tidemark.local_state.engine.front import Engine
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import TABLES
from tidemark.local_state.machine.disk import full_disk_line, has_room, is_full
from tidemark.local_state.store.state_record import note_use, refuse_loss

FIRST_SERVER_ERROR = 500
READS = ("BatchGet", "Describe", "Get", "List", "Query", "Scan", "TransactGet")
NOTED_EVERY_S = 1.0  # the home counts uses, not requests: each waits for the disk
WATERMARKS_STAY = "the watermarks were not changed; make room, then run again"


class _Counted:
    """Sends requests to the engine of a home, counts its uses, and names a full disk."""

    def __init__(self, home: Home, engine: ClosedPort) -> None:
        self._home = home
        self._engine = engine
        self._noted_at = 0.0

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        answer = self._engine.request(method, path, headers, body)
        _, _, operation = headers.get("x-amz-target", "").rpartition(".")
        if not operation.startswith(READS) and time.monotonic() > self._noted_at + NOTED_EVERY_S:
            self._noted_at = time.monotonic()
            note_use(self._home.root, TABLES)
        if answer[0] >= FIRST_SERVER_ERROR and not has_room(self._home.dynamodb):
            raise DiskFullError(f"{full_disk_line(self._home.dynamodb)}: {WATERMARKS_STAY}")
        return answer


class EngineOnDemand:
    """Sends requests to an engine, which it starts for the first one; called by any thread."""

    def __init__(self, start: Callable[[], Engine]) -> None:
        """Start nothing yet."""
        self._start = start
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._error: TidemarkError | None = None
        self._is_closed = False

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request to the engine and return its response.

        After a failed start the next request tries again if the user can have fixed that meanwhile:
        the engine was not installed, or the disk was full.
        """
        return self._started().request(method, path, headers, body)

    def close(self) -> None:
        """Start no engine any more; a start in progress is waited for."""
        with self._lock:
            self._is_closed = True

    def _started(self) -> Engine:
        with self._lock:
            if self._engine is None:
                if self._is_closed:
                    raise ConnectionError("the command that this DynamoDB belongs to has ended")
                if self._error is not None:
                    raise self._error
                try:
                    self._engine = self._start()
                except (DiskFullError, UsageError):
                    raise
                except OSError as error:
                    # A file of the home, such as the engine's log, cannot be used.
                    kind = DiskFullError if is_full(error) else UsageError
                    raise kind(
                        f"the embedded DynamoDB engine cannot use {error.filename}: "
                        f"{error.strerror}; nothing was changed: move it away, or make it "
                        "writable, then run again"
                    ) from error
                except TidemarkError as error:
                    # Another program may have reached the engine: that is not tried again.
                    self._error = error
                    raise
            return self._engine


@contextmanager
def engine_on_demand(home: Home, prepare: Callable[[Engine], None]) -> Iterator[EngineOnDemand]:
    """Yield an engine with the tables of a home, which is not started yet; stop it afterwards.

    Once started, it is prepared before it answers the first request.
    """
    tidy(home)
    # The kernel ends the engine with the thread that started it, and a request's thread is short.
    with ThreadPoolExecutor(1, "dynamodb-engine") as starter, ExitStack() as stack:

        def start() -> Engine:
            refuse_loss(home.root, TABLES, home.shown)
            with ExitStack() as attempt:
                attempt.callback(note_use, home.root, TABLES)  # after the engine's end
                port = starter.submit(attempt.enter_context, embedded_engine(home)).result()
                note_use(home.root, TABLES)
                engine = _Counted(home, port)
                prepare(engine)
                stack.enter_context(attempt.pop_all())
            return engine

        with closing(EngineOnDemand(start)) as engine:
            yield engine
