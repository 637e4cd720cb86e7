"""MongoDB and DocumentDB, by MongoDB's connector for Spark, which the job brings.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-mongodb-home.html
and https://www.mongodb.com/docs/spark-connector/current/
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.catalog.connections import connection_of_job

DATA_SOURCE = "mongodb"  # of version 10 of the connector, which Glue 4.0 and later have
REQUIRED = ("database", "collection")
URIS = ("connection.uri", "uri")  # the second one is of Glue 3.0
WITHOUT_EFFECT = {"disableUpdateUri"}  # Glue adds database and collection to the URI without it
OF_URI = {"ssl": "tls", "ssl.domain_match": "tlsAllowInvalidHostnames"}
_NEGATED = ("ssl.domain_match",)


def connector_options(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of Spark's connector for those of Glue."""
    options = {name: _text(value) for name, value in given.items() if value is not None}
    if "secretId" in options:
        raise UnsupportedError(
            "connection_options['secretId'] is not supported: no Secrets Manager runs here; give "
            "username and password"
        )
    if name := options.pop("connectionName", ""):
        options = {**_of_connection(name), **options}
    uris = [uri for one in URIS if (uri := options.pop(one, ""))]
    missing = [one for one in REQUIRED if not options.get(one)]
    if missing or not uris:
        raise UsageError(
            f"connection_options has no {', '.join([*missing, *([] if uris else [URIS[0]])])}; "
            "MongoDB needs a URI, a database and a collection"
        )
    credentials = options.pop("username", ""), options.pop("password", "")
    uri = _with_credentials(uris[0], *credentials)
    flags = {
        parameter: ("false" if value == "true" else "true") if name in _NEGATED else value
        for name, parameter in OF_URI.items()
        if (value := options.pop(name, ""))
    }
    kept = {name: value for name, value in options.items() if name not in WITHOUT_EFFECT}
    return {**kept, "connection.uri": _with_parameters(uri, flags)}


def _of_connection(name: str) -> dict[str, str]:
    properties = connection_of_job(name).properties
    words = {"CONNECTION_URL": URIS[0], "USERNAME": "username", "PASSWORD": "password"}
    return {word: str(properties[one]) for one, word in words.items() if properties.get(one)}


def _with_credentials(uri: str, user: str, password: str) -> str:
    scheme, separator, rest = uri.partition("://")
    if not user or "@" in rest.partition("/")[0]:
        return uri
    return f"{scheme}{separator}{quote(user, safe='')}:{quote(password, safe='')}@{rest}"


def _with_parameters(uri: str, parameters: Mapping[str, str]) -> str:
    if not parameters:
        return uri
    scheme, _, rest = uri.partition("://")
    rest, _, query = rest.partition("?")
    place = rest if "/" in rest else f"{rest}/"
    added = [f"{name}={value}" for name, value in parameters.items()]
    return f"{scheme}://{place}?{'&'.join([*filter(None, [query]), *added])}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
