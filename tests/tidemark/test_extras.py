"""A package of an extra that is not there: one line that says which extra to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: (
    None if name in {missing!r} else find_spec(name, *rest)
)
from {module} import main
sys.argv[1:] = {words!r}
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("module", "words", "missing", "extra"),
    [
        ("tidemark.cli.main", ["submit", "job.py"], "pyspark", "local"),
        ("tidemark.cli.main", ["report"], "jinja2", "report"),
        ("tidemark.cli.main", ["adopt", "a", "--template", "job.py"], "yaml", "adopt"),
        ("tidemark.cli.main", ["mcp"], "mcp", "mcp"),
        ("app", [], "aws_cdk", "cdk"),
    ],
)
def test_a_command_says_which_extra_it_needs(module, words, missing, extra, tmp_path, request):
    (tmp_path / "job.py").write_text("print(1)\n", encoding="utf-8")
    program = WITHOUT.format(module=module, words=words, missing=(missing,))
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path if module != "app" else request.config.rootpath,
        capture_output=True,
        text=True,
    )

    assert run.returncode == 2, run.stderr
    assert run.stderr.splitlines()[-1].startswith("error: ")
    assert f"the package {missing} is not installed; run" in run.stderr
    assert f"tidemark-glue[{extra}]" in run.stderr


def test_the_live_page_needs_no_extra_beside_local():
    project = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = {re.split("[>=]", package)[0] for package in extras["report"]}

    assert page == {"jinja2"}
    assert page <= {re.split(r"[\[>=]", package)[0] for package in extras["local"]}
