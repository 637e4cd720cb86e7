"""Every stage of the app can be deployed: it synthesizes, and the checks of the graph pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_the_stage_synthesizes(stage, tmp_path):
    context = f'{{"stage": "{stage}"}}'
    run = subprocess.run(
        [sys.executable, "app.py"],
        cwd=PROJECT,
        env=os.environ | {"CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": context},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert (tmp_path / f"template-project-{stage}.template.json").is_file()
