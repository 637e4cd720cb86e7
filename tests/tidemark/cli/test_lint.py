"""The command that lints job scripts, by themselves or as the app's template starts them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidemark.cli.main import main

PROJECT = Path(__file__).parents[3]
GOOD = """\
import sys
args = getResolvedOptions(sys.argv, ["JOB_NAME"])
job = Job(GlueContext(SparkContext()))
job.init(args["JOB_NAME"], args)
frame = glueContext.create_dynamic_frame.from_catalog("db", "t", transformation_ctx="t")
job.commit()
"""
WITHOUT_COMMIT = GOOD.replace("job.commit()", "pass")
WARNED = GOOD.replace('"t")', 'f"{frame}")')


def tidemark(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["lint", *arguments])


def write(folder: Path, text: str, name: str = "job.py") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_good_script_exits_with_0(tmp_path):
    result = tidemark(write(tmp_path, GOOD))

    assert (result.exit_code, result.output) == (0, "1 script: 0 errors, 0 warnings\n")


def test_an_error_is_shown_with_its_place_and_remedy_and_exits_with_1(tmp_path):
    script = write(tmp_path, WITHOUT_COMMIT)

    result = tidemark(script)

    assert result.exit_code == 1
    assert f"{script}:4: error TM304 commit-missing: job.commit() is never called" in result.output
    assert "    make job.commit() the last statement of the job\n" in result.output
    assert result.output.endswith("1 script: 1 error, 0 warnings\n")


def test_a_warning_exits_with_1_only_if_it_is_strict(tmp_path):
    script = write(tmp_path, WARNED)

    assert tidemark(script).exit_code == 0
    assert tidemark(script, "--strict").exit_code == 1
    assert "warning TM309 ctx-not-literal" in tidemark(script).output


@pytest.mark.parametrize(("option", "code"), [("enable", 1), ("disable", 0), ("pause", 0)])
def test_the_bookmark_option_decides_on_bookmarks(tmp_path, option, code):
    assert tidemark(write(tmp_path, WITHOUT_COMMIT), "--bookmark", option).exit_code == code


def test_json_holds_every_finding_of_all_scripts(tmp_path):
    scripts = [write(tmp_path, GOOD, "good.py"), write(tmp_path, WITHOUT_COMMIT, "bad.py")]

    result = tidemark(*scripts, "--format", "json")

    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [one["file"] for one in answer["linted"]] == scripts
    assert (answer["errors"], answer["warnings"]) == (1, 0)
    (finding,) = answer["findings"]
    assert finding == {
        "id": "TM304",
        "rule": "commit-missing",
        "severity": "error",
        "file": scripts[1],
        "line": 4,
        "end_line": 4,
        "text": "job.commit() is never called: every run reads the same again",
        "remedy": "make job.commit() the last statement of the job",
        "job": None,
    }


def test_script_is_read_by_its_coding_line(tmp_path):
    script = tmp_path / "job.py"
    script.write_bytes(b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n")

    assert tidemark(str(script)).exit_code == 0


def test_a_file_that_is_no_script_hides_nothing_of_the_others(tmp_path):
    bad, none, deep = (tmp_path / f"{name}.py" for name in ("bad", "none", "deep"))
    bad.write_text("gc.getSource('s3')\n")
    none.write_text("print 'x'\n")
    deep.write_text("x = " + "-" * 100_000 + "1\n")

    result = tidemark(str(none), str(deep), str(bad))

    assert result.exit_code == 2
    assert f"{bad}:1: error TM308 ctx-missing" in result.stdout
    assert result.stderr.startswith(f"error: {none}, line 1: not Python 3")
    assert f"error: {deep} is nested too deeply to be linted" in result.stderr


def test_a_folder_stands_for_the_scripts_in_it(tmp_path):
    for name in ("etl/a.py", "etl/deep/b.py", "etl/.venv/c.py", "etl/node_modules/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("gc.getSource('s3')\n")
    (tmp_path / "etl/old.py").write_text("print 'x'\n")

    result = tidemark(str(tmp_path / "etl"), "--format", "json")

    linted = [one["file"] for one in json.loads(result.stdout)["linted"]]
    assert linted == [str(tmp_path / "etl/a.py"), str(tmp_path / "etl/deep/b.py")]
    assert (result.exit_code, "old.py, line 1: not Python 3" in result.stderr) == (2, True)


def test_where_nothing_was_linted_nothing_is_summed_up(tmp_path):
    result = tidemark(str(tmp_path))

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{tmp_path} has no file *.py" in result.stderr


@pytest.mark.parametrize(
    ("content", "part"),
    [(None, "No such file"), (b"print 'x'", "line 1: not Python 3"), (b"\xff", "encoding")],
)
def test_what_is_no_script_exits_with_2(tmp_path, content, part):
    script = tmp_path / "job.py"
    if content is not None:
        script.write_bytes(content)

    result = tidemark(str(script))

    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert str(script) in result.stderr
    assert part in result.stderr


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["job.py", "--app", "cdk.out"], "leave out --app"),
        (["job.py", "-c", "stage=prod"], "leave out --app and --context"),
        (["--bookmark", "enable", "--app", "cdk.out"], "leave out --bookmark"),
    ],
)
def test_options_that_would_change_nothing_are_refused(arguments, part):
    result = tidemark(*arguments)

    assert result.exit_code == 2
    assert part in result.stderr


def set_arguments(app: Path, job: str, arguments: dict[str, str]) -> None:
    template = json.loads((app / "template.json").read_text())
    template["Resources"][job]["Properties"]["DefaultArguments"] = arguments
    (app / "template.json").write_text(json.dumps(template))


def name_versions(app: Path) -> Path:
    template = json.loads((app / "template.json").read_text())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Glue::Job":
            resource["Properties"]["GlueVersion"] = "5.1"
    (app / "template.json").write_text(json.dumps(template))
    return app


def test_each_job_of_an_app_is_judged_by_its_own_arguments(write_assembly):
    app = name_versions(write_assembly({"first": WITHOUT_COMMIT, "second": WITHOUT_COMMIT}))
    set_arguments(app, "second", {"--job-bookmark-option": "job-bookmark-enable", "--stage": "x"})

    result = tidemark("--app", str(app))

    assert result.exit_code == 1
    assert "[first]" not in result.output
    assert "second.py:2 [second]: warning TM313 argument-not-read" in result.output
    assert "second.py:4 [second]: error TM304 commit-missing" in result.output


def test_an_argument_that_only_one_trigger_passes_is_found(write_assembly):
    script = GOOD.replace('"JOB_NAME"]', '"JOB_NAME", "day"]')
    other = {
        "Type": "AWS::Glue::Trigger",
        "Properties": {
            "Name": "daily",
            "Type": "ON_DEMAND",
            "Actions": [{"JobName": "first", "Arguments": {"--day": "2013-01-01"}}],
        },
    }
    app = write_assembly({"first": script}, others={"Daily": other})

    result = tidemark("--app", str(app))

    assert result.exit_code == 1
    assert "--day is required and trigger " in result.output
    assert "trigger daily does not pass" not in result.output


def test_a_finding_names_the_file_that_the_asset_is_a_copy_of(write_assembly, monkeypatch):
    app = name_versions(write_assembly({"first": WITHOUT_COMMIT}))
    set_arguments(app, "first", {"--job-bookmark-option": "job-bookmark-enable"})
    project = app.parent / "project"
    (project / "glue_jobs").mkdir(parents=True)
    write(project / "glue_jobs", WITHOUT_COMMIT, "ingest.py")
    monkeypatch.chdir(project)

    assert tidemark("--app", str(app)).output.startswith("glue_jobs/ingest.py:4 [first]: error")


def test_files_of_one_content_are_told_apart_by_the_names_of_their_jobs(
    write_assembly, monkeypatch
):
    app = write_assembly(dict.fromkeys(("first", "dev-load-first", "other"), WITHOUT_COMMIT))
    for job in ("first", "dev-load-first", "other"):
        set_arguments(app, job, {"--job-bookmark-option": "job-bookmark-enable"})
    project = app.parent / "project"
    (project / "glue_jobs").mkdir(parents=True)
    for name in ("a.py", "first.py", "load_first.py"):
        write(project / "glue_jobs", WITHOUT_COMMIT, name)
    monkeypatch.chdir(project)

    files = {
        one["job"]: one["file"]
        for one in json.loads(tidemark("--app", str(app), "--format", "json").stdout)["linted"]
    }

    assert files["first"] == "glue_jobs/first.py"
    assert files["dev-load-first"] == "glue_jobs/load_first.py"
    assert files["other"].startswith(str(app))  # no file has its name: the copy, not another's


def test_a_script_outside_of_the_assembly_is_warned_of(write_assembly):
    app = write_assembly({"first": GOOD})
    template = json.loads((app / "template.json").read_text())
    command = template["Resources"]["first"]["Properties"]["Command"]
    command["ScriptLocation"] = "s3://elsewhere/job.py"
    (app / "template.json").write_text(json.dumps(template))

    result = tidemark("--app", str(app))

    assert result.exit_code == 0
    assert "warning TM318 script-not-in-assembly" in result.output
    assert "s3://elsewhere/job.py, which the assembly does not hold" in result.output


def test_a_broken_script_of_a_job_exits_with_2(write_assembly):
    result = tidemark("--app", str(write_assembly({"first": "print 'x'"})))

    assert result.exit_code == 2
    assert "first.py, line 1: not Python 3" in result.stderr


def test_without_a_script_the_app_of_the_folder_is_synthesized(
    write_assembly, tmp_path, monkeypatch
):
    app = write_assembly({"first": GOOD})
    copy = f"import os, shutil\nshutil.copytree({str(app)!r}, os.environ['CDK_OUTDIR'])\n"
    project = tmp_path / "project"
    project.mkdir()
    write(project, copy, "app.py")
    write(project, '{"app": "python app.py"}', "cdk.json")
    monkeypatch.chdir(project)

    result = tidemark("--format", "json")

    assert result.exit_code == 0
    assert [one["job"] for one in json.loads(result.stdout)["linted"]] == ["first"]


def test_the_sample_jobs_by_themselves_have_no_finding():
    scripts = sorted(map(str, (PROJECT / "glue_jobs").glob("*.py")))

    result = tidemark("--strict", *scripts)

    assert result.exit_code == 0, result.output
    assert f"{len(scripts)} scripts: 0 errors, 0 warnings" in result.output


ASKS = GOOD.replace('["JOB_NAME"]', '["JOB_NAME", "source_path"]')


def lint_with(write_assembly, script: str, command: str = "glueetl", **properties) -> Result:
    """Lint an app of one job with these properties, which a trigger starts beside a crawler."""
    folder = write_assembly({"ingest": script})
    path = folder / "template.json"
    template = json.loads(path.read_text(encoding="utf-8"))
    template["Resources"]["ingest"]["Properties"] |= properties
    template["Resources"]["ingest"]["Properties"]["Command"]["Name"] = command
    template["Resources"]["Start"]["Properties"]["Actions"].append({"CrawlerName": "crawl"})
    path.write_text(json.dumps(template), encoding="utf-8")
    return tidemark("--app", str(folder))


@pytest.mark.parametrize(
    ("version", "rule"),
    [
        ("5.1", "warning TM314 argument-abbreviated: job ingest passes --source"),
        ("6.0", "error TM312 argument-not-passed: --source_path is required"),
    ],
)
def test_what_an_abbreviation_does_depends_on_the_version_of_glue(write_assembly, version, rule):
    arguments = {"--source": "s3://a/", "--job-bookmark-option": "job-bookmark-enable"}

    result = lint_with(write_assembly, ASKS, GlueVersion=version, DefaultArguments=arguments)

    assert rule in result.output
    assert result.exit_code == (1 if rule.startswith("error") else 0)


@pytest.mark.parametrize(
    ("command", "rules"), [("glueetl", ["commit-missing"]), ("pythonshell", [])]
)
def test_only_spark_jobs_have_bookmarks(write_assembly, command, rules):
    arguments = {"--job-bookmark-option": "job-bookmark-enable"}

    result = lint_with(write_assembly, WITHOUT_COMMIT, command, DefaultArguments=arguments)

    assert [rule for rule in ("commit-missing",) if rule in result.output] == rules


def test_jobs_in_scala_are_left_alone(write_assembly):
    arguments = {"--job-language": "scala"}

    result = lint_with(write_assembly, "object Ingest {}", DefaultArguments=arguments)

    assert (result.exit_code, result.output) == (0, "0 scripts: 0 errors, 0 warnings\n")


def test_an_app_without_jobs_is_refused(write_assembly):
    result = tidemark("--app", str(write_assembly({})))

    assert result.exit_code == 2
    assert "the assembly defines no AWS::Glue::Job" in result.stderr


def test_the_version_and_the_retries_of_a_job_are_judged_with_its_script(write_assembly):
    app = write_assembly({"first": "rows.write.mode('append').parquet(path)\n"})
    template = json.loads((app / "template.json").read_text())
    template["Resources"]["first"]["Properties"]["MaxRetries"] = 1
    del template["Resources"]["first"]["Properties"]["GlueVersion"]
    (app / "template.json").write_text(json.dumps(template))

    result = tidemark("--strict", "--app", str(app))

    assert result.exit_code == 1
    assert "first.py:1 [first]: warning TM319 glue-version-missing" in result.output
    assert "first.py:1 [first]: warning TM320 retry-appends: write.parquet adds" in result.output
