"""Posts of SNS to HTTP addresses, in separate threads: as on AWS, a publisher does not wait.

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
"""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

TIMEOUT_S = 15  # of one delivery, as of SNS
CLOSE_S = 2  # for those that are under way at the end


class Deliveries:
    """Posts, and keeps track of deliveries in progress."""

    def __init__(self, post: Callable[..., object]) -> None:
        """Prepare to post."""
        self._post = post
        self._threads: set[threading.Thread] = set()

    def post(self, url: str, **options: Any) -> None:
        """Post to an address that may not answer; what fails is dropped."""
        thread = threading.Thread(target=self._deliver, args=(url, options), daemon=True)
        self._threads.add(thread)
        thread.start()

    def _deliver(self, url: str, options: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._post(url, timeout=TIMEOUT_S, **options)
        self._threads.discard(threading.current_thread())

    def close(self) -> None:
        """Wait a while for deliveries in progress."""
        deadline = time.monotonic() + CLOSE_S
        for thread in list(self._threads):
            thread.join(max(deadline - time.monotonic(), 0))
