"""A service that no client asks for is not built: its modules are not even imported."""

import json
import subprocess
import sys

SCRIPT = """
import json, sys
import boto3
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home

SERVICES = ("tidemark.glue_service.s3.service", "tidemark.emulated.services", "moto")
home = Home.open(__import__("pathlib").Path(sys.argv[1]))
seen = []
with serving(home) as (url, _):
    for service, operation in (("glue", "get_jobs"), ("logs", "describe_log_groups"),
                               ("s3", "list_buckets"), ("sns", "list_topics")):
        key = access_key(home).arguments
        client = boto3.client(service, endpoint_url=url, region_name="us-east-1", **key)
        getattr(client, operation)()
        seen.append([name for name in SERVICES if name in sys.modules])
print(json.dumps(seen))
"""


def test_only_the_services_that_are_asked_for_are_built(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    s3, *emulated = "tidemark.glue_service.s3.service", "tidemark.emulated.services", "moto"
    assert json.loads(done.stdout) == [[], [], [s3], [s3, *emulated]]
