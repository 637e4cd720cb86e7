"""What Py4J logs about calls of the JVM that fail."""

import logging


def log_without_setup() -> None:
    """Let Py4J log by the root logger of this process without setting that up.

    It calls ``logging.info`` and ``logging.exception``, which give the root logger a handler if it
    has none. A later ``logging.basicConfig`` of a script would change nothing then, though the JVM
    that failed may be one of another run.
    """
    from py4j import java_gateway

    vars(java_gateway)["logging"] = logging.getLogger()
