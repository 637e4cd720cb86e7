"""AWS's kernel for Jupyter (aws-glue-sessions), unmodified: nbclient executes notebooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.clients.conftest import PROGRAMS, VENVS
from tidemark.glue_service.submission import KEY, ship_library
from watermarks.table.schema import create_table_request

pytestmark = pytest.mark.clients
EXPLORES = [
    "%idle_timeout 30\n%number_of_workers 2\n%worker_type G.1X",
    "%%configure\n{'--of': 'notebook'}",
    "from awsglue.dynamicframe import DynamicFrame\nspark.range(2).show()",
    "orders = glueContext.create_dynamic_frame.from_options("
    "'s3', {'paths': ['s3://notebooks/orders/']}, 'json')\norders.count()",
    "orders.toDF().createOrReplaceTempView('orders')",
    "%%sql\nselect sum(amt) as total from orders",
    "import sys\n'--of' in sys.argv",
    "1 / 0",
    "%status",
    "%list_sessions",
    "%stop_session",
]
READS_WATERMARKS = [
    f"%extra_py_files s3://notebooks/{KEY}",
    "from watermarks import Watermarks\nWatermarks('glue-watermarks').latest('a-job') is None",
    "%stop_session",
]
DRAWS = [
    "%additional_python_modules matplotlib==3.10.7",
    "import matplotlib.pyplot as plt\nplt.bar([1, 2], [3, 4])\n%matplot plt",
    "%stop_session",
]
GOES_ON = ["kept = 41", "import sys\nsys.exit(1)", "kept + 1", "%stop_session"]


@pytest.fixture
def execute(client, port):
    """Return what executes notebooks of cells, and returns what each cell shows."""
    python = VENVS / "notebook" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "tidemark", "notebook", "--write-only", "--python", str(python)],
        env={**os.environ, "TIDEMARK_HOME": str(port.home.root)},
        check=True,
        capture_output=True,
    )

    def run(*notebooks: list[str]) -> list[list[str]]:
        program, kernels = str(PROGRAMS / "notebook.py"), str(port.home.root / "jupyter")
        given = json.dumps(notebooks)
        done = client("notebook", "python", program, given=given, JUPYTER_PATH=kernels)
        shown: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
        return shown

    return run


def test_notebooks_run_by_the_kernel_of_aws(execute, port):
    port.home.create_bucket("notebooks")
    folder = port.home.lake / "notebooks" / "orders"
    folder.mkdir()
    (folder / "1.json").write_text('{"id": 1, "amt": 10}\n{"id": 2, "amt": 32}\n', encoding="utf-8")
    ship_library(port.home, "notebooks")
    port.client("dynamodb").create_table(**create_table_request())

    before = {session["Id"] for session in port.glue.list_sessions()["Sessions"]}
    explored, read, drawn, went_on = execute(EXPLORES, READS_WATERMARKS, DRAWS, GOES_ON)

    by_cell = dict(zip(EXPLORES, explored, strict=True))
    assert "|  0|\n|  1|\n" in by_cell[EXPLORES[2]]
    assert by_cell[EXPLORES[3]].strip() == "2"
    assert "|   42|" in by_cell[EXPLORES[5]]
    assert by_cell[EXPLORES[6]].strip() == "True"
    assert "ZeroDivisionError: division by zero" in by_cell["1 / 0"]
    assert "Status: READY" in by_cell["%status"]
    assert "Worker Type: G.1X" in by_cell["%status"]
    assert "| READY" in by_cell["%list_sessions"]
    assert "Stopped session" in by_cell["%stop_session"]
    assert read[1].splitlines()[-1] == "True"
    assert drawn[1].endswith("image/png"), drawn[1]
    assert "SystemExit: 1" in went_on[1]
    assert went_on[2].strip() == "42"
    sessions = port.glue.list_sessions()["Sessions"]
    states = {session["Status"] for session in sessions if session["Id"] not in before}
    assert states <= {"STOPPING", "STOPPED"}
