"""`tidemark notebook`: the kernel and the profile that it writes, and what it starts."""

from __future__ import annotations

import json
import stat
import sys

import boto3
import pytest

from tests.tidemark.cli.test_cli import tidemark
from tidemark.cli.notebook import KERNEL
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = Home.open(tmp_path / "home")
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    monkeypatch.setenv("JUPYTER_PATH", "/others")
    return home


@pytest.fixture
def python(tmp_path):
    """Return what makes a Python that has packages, each of one module."""

    def make(**packages: str):
        for name, main_module in packages.items():
            package = tmp_path / "site" / name
            package.mkdir(parents=True)
            (package / "__init__.py").touch()
            (package / "__main__.py").write_text(main_module, encoding="utf-8")
        file = tmp_path / "python"
        site = tmp_path / "site"
        file.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} "$@"\n')
        file.chmod(0o755)
        return file

    return make


def test_the_kernel_asks_the_port_with_its_key(home, python):
    words = ["notebook", "--write-only", "--python", str(python(**{KERNEL: ""}))]
    with serving(home) as (url, _):
        shown = tidemark(*words)
        assert shown.exit_code == 0, shown.output
        assert f"export JUPYTER_PATH={home.root / 'jupyter'}:/others" in shown.output

        folder = home.root / "jupyter" / "kernels" / "tidemark_glue"
        spec = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
        assert spec["argv"][:2] == [words[-1], "-m"]
        variables = spec["env"]
        assert (variables["AWS_ENDPOINT_URL"], variables["glue_version"]) == (url, "5.1")
        config = home.root / "jupyter" / "aws.config"
        assert variables["AWS_CONFIG_FILE"] == str(config)
        assert stat.S_IMODE(config.stat().st_mode) == 0o600


def test_a_client_with_the_profile_is_let_in(home, python, monkeypatch):
    words = ["notebook", "--write-only", "--python", str(python(**{KERNEL: ""}))]
    with serving(home):
        assert tidemark(*words).exit_code == 0
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_CONFIG_FILE", str(home.root / "jupyter" / "aws.config"))
        profile = boto3.Session(profile_name="tidemark")

        assert profile.client("sts").get_caller_identity()["Account"] == "000000000000"
        assert profile.client("glue").list_sessions()["Ids"] == []


def test_without_jupyterlab_it_says_where_the_kernel_is(home, python):
    with serving(home):
        shown = tidemark("notebook", "--python", str(python(**{KERNEL: ""})))

    assert (shown.exit_code, "has no jupyterlab to start" in shown.output) == (0, True)


def test_without_a_port_or_without_the_kernel_of_aws_it_says_what_to_do(home, python):
    program = str(python(json_lines=""))
    alone = tidemark("notebook", "--python", program)
    with serving(home):
        lacks = tidemark("notebook", "--python", program)
        nothing = tidemark("notebook", "--python", "/nowhere/python")

    assert "`tidemark serve --port 4566` serves it" in alone.output
    assert "pip install aws-glue-sessions" in lacks.output
    assert "does not run as a Python" in nothing.output
    assert not (home.root / "jupyter").exists()
