"""`tidemark new-job --from-notebook`: a script, a test and a call of the cells."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.new_job import STACK, assert_refused, new_job, texts
from tests.sampled import at_night
from tests.tidemark.cli.test_cli import tidemark
from tidemark.errors import UsageError
from tidemark.scaffold.magics import settings_of
from tidemark.scaffold.notebook import Notebook, notebook_of
from tidemark.scaffold.notebook_job import script_of_cells

SETTINGS = """\
%glue_version 5.1
%worker_type "G.2X"
%number_of_workers 3
%timeout 30
%idle_timeout 60
%connections one, two
%additional_python_modules pyarrow==21.0.0, s3://wheels/a-1-py3-none-any.whl
%extra_py_files s3://code/a.zip
%spark_conf spark.a=1 --conf spark.b=x=y
%session_id_prefix mine"""
BOILERPLATE = """\
from awsglue.context import GlueContext
from awsglue.job import Job
from pyspark.context import SparkContext

sc = SparkContext.getOrCreate()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)"""
WRITES = "spark.range(3).write.mode('overwrite').parquet('s3://notebooks/out/')"


def cell(source: str | list[str], *tags: str, kind: str = "code") -> dict[str, object]:
    return {"cell_type": kind, "source": source, "metadata": {"tags": list(tags)}}


def document(*cells: object, **changes: object) -> str:
    told = {"kernelspec": {"name": "glue_pyspark", "language": "python"}}
    return json.dumps({"nbformat": 4, "metadata": told, "cells": list(cells), **changes})


def read(*cells: str | dict[str, object]) -> Notebook:
    given = (cell(part) if isinstance(part, str) else part for part in cells)
    return notebook_of(document(*given), "a.ipynb")


def written(path: Path, *cells: str) -> Path:
    path.write_text(document(*map(cell, cells)), encoding="utf-8")
    return path


def test_all_cells_of_code_are_the_job_unless_some_are_tagged():
    text, first = cell("# Orders", kind="markdown"), cell(["a = 1\n", "a"])

    assert read(text, first, "b = 2").code == {2: "a = 1\na", 3: "b = 2"}
    tagged = read(text, first, cell("b = 2", "job"), "!pip list", "%time f()", "a b c")
    assert tagged.code == {3: "b = 2"}
    assert [str(magic) for magic in read(cell("%timeout 3"), cell("b = 2", "job")).magics] == [
        "cell 1, line 1: %timeout"
    ]


def test_magics_are_settings_of_the_construct():
    configured = (
        "%%configure -f\n{'--of': 'notebook', '--datalake-formats': 'iceberg',"
        " '--new-argument': 'x', 'timeout': 45, 'iam_role': 'arn', '--job-bookmark-option': 'y'}"
    )
    settings = settings_of(
        read(SETTINGS, configured, '%%tags\n{"team": "sales"}', "a = 1", "%matplot plt").magics
    )

    keywords = {
        name: ast.unparse(ast.parse(text, mode="eval"))
        for name, text in settings.keywords().items()
    }
    assert keywords == {
        "python_modules": "['pyarrow==21.0.0', 's3://wheels/a-1-py3-none-any.whl']",
        "connections": "['one', 'two']",
        "arguments": "{'of': 'notebook'}",
        "runtime": (
            "JobRuntime(glue_version='5.1', worker_type='G.2X', number_of_workers=3, "
            "timeout_minutes=45)"
        ),
        "glue_arguments": (
            "GlueArguments(glue_datacatalog=True, extra_py_files=['s3://code/a.zip'], "
            "conf={'spark.a': '1', 'spark.b': 'x=y'}, datalake_formats=['iceberg'], "
            "other={'--new-argument': 'x'})"
        ),
        "options": "JobOptions(tags={'team': 'sales'})",
    }
    left_out = "\n".join(settings.left_out())
    for name in ("%idle_timeout", "%session_id_prefix", "%%configure iam_role", "%matplot"):
        assert f"{name} is left out" in left_out
    assert "--job-bookmark-option is left out: bookmark=" in left_out


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["a = 1", "!pip install x"], "cell 2, line 1: '!pip' is for notebooks only; a job has"),
        (["a = 1\n!ls\n"], "cell 1, line 2: '!ls' is for notebooks only"),
        (["%time f()"], "cell 1, line 1: '%time' is for notebooks only; a job is Python"),
        (["%%bash\nls"], "'%%bash' is for notebooks only"),
        (["# why\nspark.read?"], "cell 1, line 2: 'spark.read?' is for notebooks only"),
        (["a = 1\nawait later()"], "cell 1, line 2: 'await later()' is for notebooks only"),
        (["display(spark.range(1))"], "cell 1, line 1: 'display(spark.range(1))' is for notebooks"),
        (["def f(:"], "cell 1, line 1: invalid syntax: 'def f(:' is not Python"),
        (['%%sql\nselect """'], "cell 1, line 1: "),
        (["%%configure\n{'a': ", "a = 1"], "cell 1, line 1: %%configure needs an object of JSON"),
        (["%glue_version 0.1", "a = 1"], "cell 1, line 1: %glue_version '0.1' is not possible"),
        (["%number_of_workers many", "a = 1"], "%number_of_workers 'many' is not possible"),
        (["%streaming", "a = 1"], "%streaming is not for a job of add_job; write a streaming job"),
        (["%glue_ray", "a = 1"], "%glue_ray is not for a job of add_job"),
        (["%session_type streaming", "a = 1"], "write a streaming job"),
        (["%session_type R", "a = 1"], "allowed: tags as an object, and the session_type etl"),
        (["%spark_conf spark.a", "a = 1"], "--conf of the notebook is 'spark.a'; allowed"),
        (["%timeout 5"], "has no code for a job"),
        ([], "has no code for a job"),
    ],
)
def test_what_no_job_can_be_is_refused_with_its_place(cells, told):
    with pytest.raises(UsageError) as refusal:
        settings_of(read(*cells).magics).keywords()
    assert told in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not a notebook, which is JSON"),
        ("[]", "is not a notebook, which is JSON"),
        (document(nbformat=3), "nbformat 3; allowed: 4 or later"),
        (document(metadata={"language_info": {"name": "scala"}}), "is a notebook in scala"),
        (document({"cell_type": "code", "source": 3}), "cell 1 has no text as its source"),
        (document(metadata=None), "has no code for a job"),
        (document(cell("!ls") | {"metadata": None}), "'!ls' is for notebooks only"),
        (document(metadata={"kernelspec": {"language": 3}}), "is a notebook in 3"),
    ],
)
def test_other_files_than_notebooks_in_python_are_refused(text, told):
    with pytest.raises(UsageError) as refusal:
        notebook_of(text, "a.ipynb")
    assert told in str(refusal.value)


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (["1 + 1"], ["glueContext = GlueContext(sc)", "job = Job(glueContext)"]),
        (["spark.range(1).show()"], ["spark = glueContext.spark_session"]),
        (["job = 'mine'"], ["glue_job = Job(glueContext)", "glue_job.commit()"]),
        ([BOILERPLATE], ['job.init(job_arguments["JOB_NAME"], job_arguments)', "job.commit()"]),
        ([f"{BOILERPLATE}\njob.init('a', {{}})", "job.commit()"], []),
        (["a = 1", "from __future__ import annotations\nb = 2"], ["job.commit()"]),
    ],
)
def test_a_script_gets_what_its_cells_do_not_make(cells, lines):
    notebook = read(*cells)
    script = script_of_cells("orders", notebook)

    own = {line for code in notebook.code.values() for line in code.splitlines()}
    added = [line for line in script.splitlines() if line not in own]
    assert set(lines) <= set(added)
    compile(script, "script", "exec")
    for call in ("Job(glueContext)", ".init(", ".commit()"):
        assert script.count(call) == 1
    if "GlueContext(sc)" in "".join(own):
        assert not any("GlueContext(" in line for line in added)


def test_lines_within_strings_stay_as_they_are():
    text = "from __future__ import nothing\n%matplotlib inline\n%matplot plt"
    cells = (f'a = """\n{text}\n"""', "from __future__ import (\n    annotations,\n)\nb = 1")

    script = script_of_cells("load", read(*cells))

    values = {node.targets[0].id: node.value for node in ast.parse(script).body if is_value(node)}
    assert values["a"].value == f"\n{text}\n"
    assert script.splitlines()[2] == "from __future__ import annotations"
    compile(script, "load.py", "exec")


def is_value(node):
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)


def test_a_notebook_becomes_a_script_a_test_and_a_call(project):
    before = texts(project)
    file = written(project / "Daily Orders.ipynb", SETTINGS, WRITES, "%%sql\nselect 1 as a")

    result = new_job("--from-notebook", str(file), "--after=ingest-flights")

    assert result.exit_code == 0, result.output
    after = texts(project)
    assert after.keys() - before.keys() == {
        "glue_jobs/daily_orders.py",
        "tests/glue_jobs/test_daily_orders.py",
    }
    stack = after[STACK]
    for part in ("JobRuntime,", "GlueArguments,", 'connections=["one", "two"],', "after=[self."):
        assert part in stack
    assert 'spark.sql("""select 1 as a""").show()' in after["glue_jobs/daily_orders.py"]
    assert "tidemark run --only daily-orders" in result.stdout
    assert "%idle_timeout is left out" in result.stdout
    assert "s3://notebooks/out/" in result.stdout
    assert_refused(new_job("--from-notebook", str(file)), "daily-orders", "another name")


def test_a_notebook_has_no_kind_and_a_job_has_a_name(project):
    file = str(written(project / "a.ipynb", "1"))

    assert_refused(new_job("a-job", "--from-notebook", file, "--kind=merge"), "leave them out")
    assert_refused(new_job(), "give the job a name")
    assert_refused(new_job("--from-notebook", "nowhere.ipynb"), "cannot read the notebook nowhere")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("code", "end"),
    [
        (WRITES, "1 passed"),
        *at_night(("spark.read.json('s3://notebooks/in/').count()", "1 skipped")),
    ],
)
def test_the_test_that_is_written_runs_the_cells(project, code, end):
    new_job("cells", "--from-notebook", str(written(project / "a.ipynb", BOILERPLATE, code)))

    command = [sys.executable, "-m", "pytest", "-q", "-rs", "tests/glue_jobs/test_cells.py"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)

    assert end in done.stdout, done.stdout + done.stderr


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.spark
def test_the_job_that_is_written_runs_in_a_new_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tidemark("init", "shop")
    monkeypatch.chdir(tmp_path / "shop")
    written(Path("cells.ipynb"), "%glue_version 5.1", BOILERPLATE, WRITES)

    tidemark("new-job", "--from-notebook", "cells.ipynb")
    tidemark("bucket", "notebooks")
    shown = tidemark("run", "--only", "cells")

    assert "cells SUCCEEDED" in " ".join(shown.stdout.split())
