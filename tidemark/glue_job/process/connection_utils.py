"""The class of Glue's JVM that scripts ask where AWS is.

AWS's own samples write ``glueContext._jvm.AWSConnectionUtils.getRegion()``, and give what it says
to boto3.
Source: https://github.com/awslabs/aws-glue-libs (awsglue/devutils.py)
"""

import os
from types import SimpleNamespace

NO_PROXY = "https://null:0"


def glue_endpoint() -> str:
    """Return the URL of Glue's API: that of this machine where one is served."""
    for name in ("AWS_ENDPOINT_URL_GLUE", "AWS_ENDPOINT_URL"):
        if url := os.environ.get(name):
            return url
    return f"https://glue.{os.environ['AWS_REGION']}.amazonaws.com"


CONNECTION_UTILS = SimpleNamespace(
    getRegion=lambda: os.environ["AWS_REGION"],
    getGlueEndpoint=glue_endpoint,
    getGlueProxyUrl=lambda: NO_PROXY,  # as Glue says where there is none
)
