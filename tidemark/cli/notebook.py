"""`tidemark notebook`: a kernel of Jupyter for the sessions of a home, and JupyterLab with it."""

import configparser
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click

from tidemark.cli.serve import port_of
from tidemark.errors import UsageError
from tidemark.glue_service.served import ServedPort
from tidemark.local_state.access_key import AccessKey, access_key
from tidemark.local_state.home import Home
from tidemark.model.assembly.glue_versions import DEFAULT_GLUE_VERSION
from tidemark.model.assembly.intrinsics import ACCOUNT_ID

KERNEL = "aws_glue_interactive_sessions_kernel"  # the package of aws-glue-sessions
PROFILE, NAME, TITLE = "tidemark", "tidemark_glue", "Glue PySpark on this machine"
SEARCH_PATH = "JUPYTER_PATH"
PROBE = "import importlib.util as u, sys; print(*filter(u.find_spec, sys.argv[1:]))"


def notebook(files: tuple[Path, ...], python: Path | None, write_only: bool) -> None:
    home = Home.from_environment()
    port = port_of(home)
    python = (python or Path(sys.executable)).absolute()
    packages = _packages(python)
    if KERNEL not in packages:
        raise UsageError(
            f"{python} has no aws-glue-sessions, AWS's kernel for notebooks: `{python} -m pip "
            "install aws-glue-sessions`, or name another Python with --python"
        )
    folder = home.root / "jupyter"
    kernel = write_kernel(folder, port, access_key(home), python)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get(SEARCH_PATH))))
    click.echo(f"the kernel {TITLE!r} is in {kernel}; its cells run on {port.url}")
    click.echo(f"export {SEARCH_PATH}={path}")
    if write_only or "jupyterlab" not in packages:
        missing = "" if write_only else f"; {python} has no jupyterlab to start"
        click.echo(f"with it Jupyter, and editors that it starts, find the kernel{missing}")
        return
    command = [str(python), "-m", "jupyterlab", *map(str, files)]
    os.execve(command[0], command, {**os.environ, SEARCH_PATH: path})  # noqa: S606 (the user's own)


def _packages(python: Path) -> list[str]:
    command = [str(python), "-P", "-c", PROBE, KERNEL, "jupyterlab"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"{python} does not run as a Python: {error}") from error
    return run.stdout.split()


def write_kernel(folder: Path, port: ServedPort, key: AccessKey, python: Path) -> Path:
    """Write a kernel of Jupyter and the profile that it has; return the kernel's folder.

    The profile has the access key, and only its owner reads it.
    """
    kernel = folder / "kernels" / NAME
    kernel.mkdir(parents=True, exist_ok=True)
    config = folder / "aws.config"
    config.touch(mode=0o600)
    config.write_text(profile_of(port, key), encoding="utf-8")
    spec = kernel_spec(python, config, port)
    (kernel / "kernel.json").write_text(json.dumps(spec, indent=2), encoding="utf-8")
    return kernel


def profile_of(port: ServedPort, key: AccessKey) -> str:
    """Return AWS's configuration with a profile for a port: without one, the kernel asks AWS."""
    config = configparser.ConfigParser()
    config[f"profile {PROFILE}"] = {
        "region": port.region,
        "endpoint_url": port.url,
        **key.arguments,
    }
    text = io.StringIO()
    config.write(text)
    return text.getvalue()


def kernel_spec(python: Path, config: Path, port: ServedPort) -> dict[str, object]:
    """Return the document by which Jupyter starts AWS's kernel with a profile."""
    module = f"{KERNEL}.glue_pyspark.GlueKernel"
    return {
        "argv": [str(python), "-m", module, "-f", "{connection_file}"],
        "display_name": TITLE,
        "language": "python",
        "env": {
            "AWS_CONFIG_FILE": str(config),
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_ENDPOINT_URL": port.url,  # one of the shell would win over the profile's
            "AWS_REGION": port.region,
            # What cells say by magics otherwise: the profile of the configuration, the role, …
            "glue_profile": PROFILE,
            "glue_role_arn": f"arn:aws:iam::{ACCOUNT_ID}:role/local",
            "glue_version": DEFAULT_GLUE_VERSION,
        },
    }
