"""Another DynamoDB than the embedded one: a program that the user runs, reached by its URL.

Such programs see other tables for every access key and region, or do not. Requests go there with
one signature, so that all clients of a home see the same tables. None of them checks it.
"""

import http.client
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from tidemark.errors import UsageError, show
from tidemark.local_state.engine.closed_port import Answer

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
TIMEOUT_S = 60
AWS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
A_TIME = "20260101T000000Z"  # some want one; none of them checks it
ONE_SIGNATURE = (
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0"
)
JSON = "application/x-amz-json-1.0"
LIST_TABLES = "DynamoDB_20120810.ListTables"
REMEDY = f"correct {ENDPOINT_VARIABLE}, or unset it to use the embedded engine"


class OtherEngine:
    """Sends requests to a DynamoDB by its URL; called by any thread."""

    def __init__(self, url: str) -> None:
        """Read the URL; nothing is sent yet."""
        self.url = url.rstrip("/")
        try:
            place = urlsplit(self.url)
            is_usable = place.scheme in ("http", "https") and place.hostname and place.port != 0
        except ValueError:
            is_usable = False
        if not is_usable or place.path or place.query or place.fragment or place.username:
            raise UsageError(
                f"{ENDPOINT_VARIABLE} is {show(self.url)}; allowed: a URL of a host and a port, "
                f"such as http://127.0.0.1:8000; {REMEDY}"
            )
        if f".{place.hostname}".endswith(AWS):
            raise UsageError(
                f"{ENDPOINT_VARIABLE} is {self.url}, which is AWS; the watermarks of local runs "
                f"are not kept among those of deployed jobs: {REMEDY}"
            )
        self._place = place

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request and return the response."""
        connection = self._connect()
        try:
            connection.request(method, path, body, {**headers, "authorization": ONE_SIGNATURE})
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        except OSError as error:
            raise ConnectionError(f"no DynamoDB answers at {self.url}: {error}") from error
        finally:
            connection.close()

    def tables(self) -> list[str]:
        """Return the names of the tables there, up to a hundred."""
        headers = {"content-type": JSON, "x-amz-target": LIST_TABLES, "x-amz-date": A_TIME}
        try:
            status, _, body = self.request("POST", "/", headers, b"{}")
        except (OSError, http.client.HTTPException) as error:
            raise UsageError(f"{error}; start it, or {REMEDY}") from error
        try:
            return list(json.loads(body)["TableNames"])
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"the server at {self.url} is not a DynamoDB: it answers ListTables with {status} "
                f"and {show(body.decode(errors='replace'))}; {REMEDY}"
            ) from error

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._place.hostname or "", self._place.port
        if self._place.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S)
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
