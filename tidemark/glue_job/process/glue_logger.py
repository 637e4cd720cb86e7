"""The logger of a script: ``GlueContext.get_logger()``."""

import logging
import sys
from typing import Any

NAME = "GlueLogger"


class GlueLogger(logging.Logger):
    """Has ``warn`` beside what Python's loggers have, as AWS's logger is one of log4j."""

    def warn(self, msg: object, *args: Any, **kwargs: Any) -> None:
        """Log a warning."""
        self.warning(msg, *args, **kwargs)


_LOGGER = GlueLogger(NAME, logging.INFO)
_LOGGER.propagate = False


def glue_logger() -> GlueLogger:
    """Return the logger of this process, which leaves Python's own logging as a script sets it."""
    if not _LOGGER.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _LOGGER.addHandler(handler)
    return _LOGGER
