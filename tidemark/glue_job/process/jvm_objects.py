"""Objects of Glue's JVM that scripts use: the logger, and the class for regions and endpoints.

AWS's own samples call ``glueContext._jvm.AWSConnectionUtils.getRegion()``, and pass the result
to boto3.
Source: https://github.com/awslabs/aws-glue-libs (awsglue/devutils.py)
"""

import logging
import os
import sys
from types import SimpleNamespace
from typing import Any

NAME = "GlueLogger"


class GlueLogger(logging.Logger):
    """Adds ``warn`` to Python's logger, because AWS's logger is one of log4j."""

    def warn(self, msg: object, *args: Any, **kwargs: Any) -> None:
        """Log a warning."""
        self.warning(msg, *args, **kwargs)


_LOGGER = GlueLogger(NAME, logging.INFO)
_LOGGER.propagate = False


def glue_logger() -> GlueLogger:
    """Return the logger of this process; Python's own logging stays as a script configures it."""
    if not _LOGGER.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _LOGGER.addHandler(handler)
    return _LOGGER


NO_PROXY = "https://null:0"


CONNECTION_UTILS = SimpleNamespace(
    getRegion=lambda: os.environ["AWS_REGION"],
    # The local one if it is served.
    getGlueEndpoint=lambda: (
        os.environ.get("AWS_ENDPOINT_URL_GLUE")
        or os.environ.get("AWS_ENDPOINT_URL")
        or f"https://glue.{os.environ['AWS_REGION']}.amazonaws.com"
    ),
    getGlueProxyUrl=lambda: NO_PROXY,  # Glue's value without a proxy
)
