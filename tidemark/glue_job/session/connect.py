"""Serves Spark Connect to the clients of a session: on loopback alone, with a token of its own.

Source: https://docs.aws.amazon.com/glue/latest/dg/interactive-sessions-spark-connect-connecting.html
"""

import os
import secrets
from pathlib import Path
from typing import Any

from tidemark.glue_job.session.serve import Session, check_jvm
from tidemark.glue_job.session.statement_files import statement_files
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.clock import now_ms

SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService$"
TOKEN, TOKEN_BYTES = "SPARK_CONNECT_AUTHENTICATE_TOKEN", 32


def settings() -> list[tuple[str, str]]:
    """Return the settings of Spark with which a session serves; makes its token.

    The token is a variable of the JVM: a setting would be among its arguments, which `ps` shows.
    """
    os.environ[TOKEN] = secrets.token_urlsafe(TOKEN_BYTES)
    return [
        ("spark.connect.grpc.binding.address", "127.0.0.1"),
        ("spark.connect.grpc.binding.port", "0"),
    ]


def serve(context: Any) -> None:
    """Serve until the process is told to end."""
    files = statement_files(Path(os.environ[RUN_FOLDER_VARIABLE]))
    service = getattr(getattr(context._jvm, SERVICE), "MODULE$")
    service.start(context._jsc.sc())
    endpoint = {
        # Clients of PySpark send a token without TLS to this name only.
        "Url": f"sc://localhost:{service.localPort()}",
        "AuthToken": os.environ[TOKEN],
    }
    ConnectSession(files, service, endpoint).serve()


class ConnectSession(Session):
    """A session without statements: its clients ask the JVM."""

    def __init__(self, files: Any, service: Any, endpoint: dict[str, str]) -> None:
        """Serve at an endpoint."""
        super().__init__(files, {})
        self._service = service
        self._endpoint = endpoint

    def serve(self) -> None:
        """Say where it is, and wait for the end."""
        self._files.folder.mkdir()
        self._files.put_endpoint(self._endpoint)
        super().serve()

    def _look(self) -> None:
        check_jvm()
        active = self._service.listActiveExecutions()
        # Spark tells when the last one ended, if none is active.
        at_ms = int(active.value()) if active.isLeft() else now_ms()
        self._files.put_activity(at_ms)
