"""The destination of events: the command's option, or the configuration of openlineage-python."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidemark.errors import UsageError
from tidemark.extras import not_installed, require

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

PACKAGE = "openlineage"
URL_VARIABLE = "OPENLINEAGE_URL"
CONFIG_VARIABLE = "OPENLINEAGE_CONFIG"
DISABLED_VARIABLE = "OPENLINEAGE_DISABLED"
ENDPOINT_VARIABLE = "OPENLINEAGE_ENDPOINT"
KEY_VARIABLE = "OPENLINEAGE_API_KEY"
TRANSPORT_PREFIX = "OPENLINEAGE__TRANSPORT"
CONFIG_FILE = "openlineage.yml"
CONSOLE, NOOP = "console", "noop"  # transports
ENDPOINT = "api/v1/lineage"
RETRIES = {"total": 1, "connect": 1, "read": 1}
HTTP_SCHEMES = ("http", "https")


@dataclass(frozen=True)
class Destination:
    """Where events go.

    Attributes:
        shown: how people know it; no password is in it.
        client: sends them.
    """

    shown: str
    client: "OpenLineageClient"


def destination_of(option: str | None, say: Callable[[str], None]) -> Destination | None:
    """Return where events go, None if nothing asks for them."""
    if option is not None:
        transport = transport_of(option, os.environ)
        require(PACKAGE)
        return _open(_without_password(option), {"transport": transport})
    if (source := settings_of(os.environ, Path.cwd(), Path.home())) is None:
        return None
    try:
        require(PACKAGE)
        destination = _open(source, None)
        if destination.client.transport.kind == CONSOLE and not destination.client.config.transport:
            raise UsageError("it names no transport that can be read")
    except Exception as error:  # noqa: BLE001 (settings of others must stop no run)
        say(f"no lineage: {source} asks for it, and {error}")
        return None
    return None if destination.client.transport.kind == NOOP else destination


def transport_of(option: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of openlineage-python for a file or a URL."""
    if "://" not in option:
        path = Path(option).absolute()
        try:
            with path.open("a", encoding="utf-8"):
                pass
        except OSError as error:
            raise UsageError(
                f"--lineage {option!r} cannot be written: {error.strerror}; name a file in a "
                "folder that exists"
            ) from error
        return {"type": "file", "log_file_path": str(path), "append": True}
    url = urlsplit(option)
    if url.scheme not in HTTP_SCHEMES or not url.hostname:
        raise UsageError(
            f"--lineage {_without_password(option)!r} is not a place for events; allowed: a file, "
            "or "
            "a URL that starts with http:// or https://; give one"
        )
    transport: dict[str, Any] = {
        "type": "http",
        "url": f"{url.scheme}://{url.netloc}",
        "endpoint": url.path.strip("/") or environment.get(ENDPOINT_VARIABLE, ENDPOINT),
        "retry": dict(RETRIES),
    }
    if key := environment.get(KEY_VARIABLE):
        transport["auth"] = {"type": "api_key", "apiKey": key}
    return transport


def settings_of(environment: Mapping[str, str], folder: Path, user: Path) -> str | None:
    """Return the name of openlineage-python's setting for the destination of events, or None.

    Source: https://openlineage.io/docs/client/python/configuration
    """
    if environment.get(DISABLED_VARIABLE, "").strip().lower() == "true":
        return None
    transports = (name for name in environment if name.startswith(TRANSPORT_PREFIX))
    named = (name for name in (URL_VARIABLE, CONFIG_VARIABLE) if environment.get(name))
    files = (folder / CONFIG_FILE, user / ".openlineage" / CONFIG_FILE)
    existing = (str(file) for file in files if file.is_file())
    return next((name for names in (named, transports, existing) for name in names), None)


def _open(shown: str, config: dict[str, Any] | None) -> Destination:
    from openlineage.client import OpenLineageClient

    logging.getLogger(PACKAGE).addHandler(logging.NullHandler())  # we report problems ourselves
    try:
        return Destination(shown, OpenLineageClient(config=config))
    except ImportError as error:  # a transport of another package, such as kafka
        raise not_installed(PACKAGE) or error from error


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}" if separator else url
