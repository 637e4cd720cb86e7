"""Makes a JVM prepare for a run, and reset itself after it."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.glue_job.process.after_import import log_without_setup
from tidemark.glue_job.process.spark import as_properties


@dataclass(frozen=True)
class Gateway:
    """Address and secret with which a process connects to a JVM."""

    port: int
    secret: str


@dataclass(frozen=True)
class JvmSettings:
    """The settings of a run, in the format of Java's properties; the later of two counts.

    Attributes:
        properties: its system properties.
        file: the file that spark-submit would get.
        conf: the settings that spark-submit would get with ``--conf``.
    """

    properties: str
    file: str
    conf: str


class Control:
    """The pool's own connection to a JVM; no script knows its secret.

    Every method raises an error of Py4J or of the network if the JVM is gone or does not answer.
    """

    def __init__(self, gateway: Gateway) -> None:
        """Connect, and make the JVM remember its state before any run."""
        from py4j.java_gateway import GatewayParameters, JavaGateway

        # The caller sees the error itself; Py4J would also print it, by the root logger too.
        log_without_setup()
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        logging.getLogger().addFilter(_is_not_py4j)
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(
                port=gateway.port, auth_token=gateway.secret, read_timeout=60.0
            )
        )
        self._jvm: Any = self._gateway.jvm.dev.tidemark.jvm.WarmJvm
        self._jvm.remember()

    def begin(self, settings: JvmSettings, environment: Mapping[str, str]) -> Gateway:
        """Prepare for a run."""
        # Variables are bytes, whatever the JVM's encoding: one character each.
        as_bytes = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
        in_latin = {name.decode("latin-1"): as_bytes[name].decode("latin-1") for name in as_bytes}
        answer = self._jvm.begin(
            settings.properties, settings.file, settings.conf, as_properties(in_latin)
        )
        port, secret = str(answer).split(" ")
        return Gateway(int(port), secret)

    def end(self, mark: str) -> bool:
        """End the run, print ``mark`` to both streams; return whether Spark was still running."""
        return bool(self._jvm.end(mark))

    def clean(self) -> str:
        """Reset the JVM; return why that is impossible, or an empty string."""
        return str(self._jvm.clean())

    def close(self) -> None:
        """Close the connection."""
        self._gateway.close()


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return not record.pathname.endswith("py4j/java_gateway.py")
