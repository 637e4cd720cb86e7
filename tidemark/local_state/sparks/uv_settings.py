"""Tells uv what pip is told of indexes, proxies and certificates: uv reads none of pip's files.

Imports nothing but the standard library: the set-up of a project uses it before anything is there.
Sources: https://docs.astral.sh/uv/reference/environment/ and
https://pip.pypa.io/en/stable/topics/configuration/
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping

# Option of pip -> the variable of uv, and how uv separates several.
UV_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "no-index": ("UV_NO_INDEX", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
}
PIP_SETTING = re.compile(r"^(?::?\w+:?)\.(?P<name>[\w-]+)='(?P<value>[^']*)'$", re.MULTILINE)


def pip_settings() -> dict[str, str]:
    """Return what pip is told by its files and the environment, by option; the environment wins."""
    command = (sys.executable, "-m", "pip", "config", "list")
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    lines = sorted(run.stdout.splitlines(), key=lambda line: line.startswith(":env:"))
    settings = PIP_SETTING.finditer("\n".join(lines))
    return {match["name"]: match["value"].replace("\\n", " ") for match in settings}


def uv_settings(pip: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that let uv find packages where pip would; those that are set win."""
    # As for pip, an index does not hide another one: the hashes say which package is meant.
    settings = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for option, value in pip.items():
        if option in UV_VARIABLES and value.strip():
            variable, separator = UV_VARIABLES[option]
            settings[variable] = separator.join(value.split())
    return {name: value for name, value in settings.items() if name not in os.environ}
