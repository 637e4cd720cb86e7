"""Cloud assemblies of this project's app, each made once for all processes of a test session."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


def app_run(folder: Path, context: Mapping[str, object]) -> Path:
    """Run `python app.py` from another folder, into this one, and return it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CDK_")}
    done = subprocess.run(
        [sys.executable, str(PROJECT / "app.py")],
        cwd=folder.parent,
        env=inherited | {"CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps(context)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def shared_assembly(factory: pytest.TempPathFactory, context: Mapping[str, object]) -> Path:
    """Return the assembly for a context, which no test may change; the first to ask makes it."""
    key = json.dumps({"stage": "dev", **context}, sort_keys=True)
    if (given := os.environ.get("TIDEMARK_TEST_ASSEMBLY")) and key == '{"stage": "dev"}':
        return Path(given)  # `tidemark new-job` has made it
    base = factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    out = folder / "assemblies" / hashlib.sha256(key.encode()).hexdigest()[:16]
    out.parent.mkdir(exist_ok=True)
    with out.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not lock.tell():
            app_run(out, context)
            lock.write("complete")
    return out
