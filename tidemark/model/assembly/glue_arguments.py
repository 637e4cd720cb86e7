"""Every argument that Glue itself reads: how to set it, for which jobs, and its effect here.

The documented list, and what Glue passes or reads beyond it. The constructs, adopt, the local Glue,
the linter and docs/glue-arguments.md decide by this table: a new argument is a line here, and a
field of `GlueArguments` if it is to be declared.
Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html,
https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-security-for-auto-upgrade.html
"""

import re
from dataclasses import dataclass
from enum import Enum

from tidemark.model.assembly.glue_versions import version_of_run

SPARK = ("glueetl", "gluestreaming")
PYTHON = (*SPARK, "pythonshell")
DATALAKE_FORMATS = ("hudi", "delta", "iceberg")
LOG_STREAM = re.compile(r"[^:*\s]{1,400}")
UNDOCUMENTED = re.compile(r"--[A-Za-z][\w-]*", re.ASCII)


class Here(Enum):
    """How the local Glue treats an argument."""

    HONOURED = "honoured"
    PASSED_ON = "tunes, logs or measures only"
    REFUSED = "refused"


class Form(Enum):
    """How the value of a field of `GlueArguments` is written."""

    ON = "true, where the default is off"
    ON_OR_OFF = "true or false, where the default is on"
    TEXT = "as it is"
    LIST = "values with commas between them"
    FILES = "addresses of files with commas between them"
    FILE = "the address of a file"
    FOLDER = "the address of a folder that the job writes"
    SETTINGS = "name=value --conf name=value"
    VARIABLES = "name=value,name=value"


class Passed(Enum):
    """Who passes an argument that scripts may read, and what getResolvedOptions does with it."""

    BY_DECLARATION = "the job"
    BY_GLUE = "Glue, to every run"
    BY_WORKFLOW = "Glue, to the runs of a workflow"
    BY_GLUE_ALONE = "Glue, to every run: getResolvedOptions returns it, and refuses to be asked"
    ALONE = "the job: getResolvedOptions returns it, and refuses to be asked"
    OPTIONAL = "the job: getResolvedOptions returns it, and None where it is missing"


@dataclass(frozen=True)
class GlueArgument:
    """An argument that Glue reads.

    Attributes:
        name: with its dashes.
        field: of `GlueArguments` that sets it; empty if something else does.
        form: how the value of that field is written.
        ends: what the names of its files end in.
        instead: if no field sets it: what does, or why nothing does.
        here: how the local Glue treats it.
        remedy: the alternative if it is refused here.
        commands: kinds of jobs that know it, by the name of their command.
        since: the first version of Glue that knows it; empty: every one.
        until: the last version of Glue that knows it; empty: every one.
        passed: who passes it.
    """

    name: str
    field: str = ""
    form: Form = Form.TEXT
    ends: tuple[str, ...] = ("",)
    instead: str = ""
    here: Here = Here.PASSED_ON
    remedy: str = ""
    commands: tuple[str, ...] = SPARK
    since: str = ""
    until: str = ""
    passed: Passed = Passed.BY_DECLARATION

    def is_known_by(self, version: str) -> bool:
        """Return whether a version of Glue, such as `5.1`, knows the argument."""
        return (not self.since or _order(self.since) <= _order(version)) and (
            not self.until or _order(version) <= _order(self.until)
        )


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version_of_run(version).split(".")))


_INTERNAL = "Glue sets it"
_LOGS = "since Glue 5.0 logs are always continuous, and the pipeline names their groups"
_VENV = "name its modules in --additional-python-modules instead"
_HONOURED, _REFUSED = Here.HONOURED, Here.REFUSED
_JARS, _MODULES, _VENVS = (".jar",), (".py", ".zip", ".whl", ".egg"), (".tar.gz",)

_TABLE = (
    GlueArgument(
        "--additional-python-modules", instead="python_modules=", here=_HONOURED, commands=PYTHON
    ),
    GlueArgument(
        "--auto-scale-within-microbatch",
        "auto_scale_within_microbatch",
        Form.ON_OR_OFF,
        commands=("gluestreaming",),
    ),
    GlueArgument("--auto-upgrade-metadata-kms-key-arn", "auto_upgrade_metadata_kms_key"),
    GlueArgument(
        "--class",
        instead="it is for Scala; jobs are written in Python",
        here=_REFUSED,
        remedy="only Python scripts run here",
    ),
    GlueArgument("--conf", "conf", Form.SETTINGS, here=_HONOURED),
    GlueArgument("--continuation-option", instead="bookmark=", here=_HONOURED, passed=Passed.ALONE),
    GlueArgument("--continuous-log-conversionPattern", instead=_LOGS, until="4.0"),
    GlueArgument("--continuous-log-logGroup", instead=_LOGS, until="4.0"),
    GlueArgument("--continuous-log-logStreamPrefix", instead=_LOGS, until="4.0"),
    GlueArgument(
        "--custom-logGroup-prefix", instead="the pipeline, which creates the groups", since="5.0"
    ),
    GlueArgument("--custom-logStream-prefix", "log_stream_prefix", since="5.0"),
    GlueArgument("--customer-driver-env-vars", "driver_variables", Form.VARIABLES, here=_HONOURED),
    GlueArgument(
        "--customer-executor-env-vars", "executor_variables", Form.VARIABLES, here=_HONOURED
    ),
    GlueArgument("--datalake-formats", "datalake_formats", Form.LIST, here=_HONOURED, since="3.0"),
    GlueArgument("--debug", instead=_INTERNAL),
    GlueArgument("--disable-proxy-v2", "disable_proxy", Form.ON),
    GlueArgument(
        "--enable-auto-scaling", instead="runtime=, JobRuntime(auto_scaling=True)", since="3.0"
    ),
    GlueArgument("--enable-continuous-cloudwatch-log", instead=_LOGS, until="4.0"),
    GlueArgument("--enable-continuous-log-filter", instead=_LOGS, until="4.0"),
    GlueArgument("--enable-data-lineage", instead=_INTERNAL, passed=Passed.ALONE),
    GlueArgument("--enable-glue-datacatalog", "glue_datacatalog", Form.ON, here=_HONOURED),
    GlueArgument("--enable-job-insights", "job_insights", Form.ON_OR_OFF, since="2.0"),
    GlueArgument(
        "--enable-lakeformation-fine-grained-access",
        "lakeformation_fine_grained_access",
        Form.ON,
        here=_REFUSED,
        remedy="Lake Formation does not run here: leave it out; jobs read what they declare",
        commands=("glueetl",),
        since="5.0",
    ),
    GlueArgument("--enable-metrics", instead="metrics of the stage, StageConfig(metrics=True)"),
    GlueArgument("--enable-observability-metrics", "observability_metrics", Form.ON, since="4.0"),
    GlueArgument(
        "--enable-rename-algorithm-v2", instead="Glue 1.0 was its last version", until="1.0"
    ),
    GlueArgument(
        "--enable-s3-parquet-optimized-committer",
        "s3_parquet_optimized_committer",
        Form.ON_OR_OFF,
        here=_HONOURED,
        since="2.0",
        until="5.1",  # of EMRFS, which Glue 6.0 no longer has
    ),
    GlueArgument("--enable-spark-ui", "spark_ui", Form.ON),
    GlueArgument(
        "--encryption-type",
        instead="the security configuration of the pipeline, which encrypts",
        passed=Passed.ALONE,
    ),
    GlueArgument("--endpoint", instead=_INTERNAL),
    GlueArgument("--executor-cores", "executor_cores", since="3.0"),
    GlueArgument("--extra-files", "extra_files", Form.FILES, here=_HONOURED),
    GlueArgument("--extra-jars", "extra_jars", Form.FILES, _JARS, here=_HONOURED),
    GlueArgument(
        "--extra-py-files", "extra_py_files", Form.FILES, _MODULES, here=_HONOURED, commands=PYTHON
    ),
    GlueArgument(
        "--job-bookmark-from",
        instead="the start of one run, with a range",
        here=_HONOURED,
        passed=Passed.ALONE,
    ),
    GlueArgument("--job-bookmark-option", instead="bookmark=", here=_HONOURED, passed=Passed.ALONE),
    GlueArgument(
        "--job-bookmark-to",
        instead="the start of one run, with a range",
        here=_HONOURED,
        passed=Passed.ALONE,
    ),
    GlueArgument("--job-language", instead="the construct: python", here=_HONOURED),
    GlueArgument("--mode", instead=_INTERNAL),
    GlueArgument(
        "--python-modules-installer-option", "python_modules_installer_option", commands=PYTHON
    ),
    GlueArgument(
        "--python-virtual-env",
        "python_virtual_env",
        Form.FILE,
        _VENVS,
        here=_REFUSED,
        remedy=_VENV,
        since="5.0",
    ),
    GlueArgument(
        "--python-virtual-env-storage-prefix", "python_virtual_env_cache", Form.FOLDER, since="6.0"
    ),
    GlueArgument("--python-virtual-env-version", "python_virtual_env_version", since="6.0"),
    GlueArgument(
        "--scriptLocation",
        instead="script=",
        here=_REFUSED,
        remedy="set Command.ScriptLocation of the job",
        commands=PYTHON,
    ),
    GlueArgument("--spark-event-logs-path", "spark_ui", Form.FOLDER),
    GlueArgument(
        "--TempDir", instead="temp=", here=_HONOURED, commands=PYTHON, passed=Passed.OPTIONAL
    ),
    GlueArgument("--use-postgres-driver", instead="Glue 2.0 was its last version", until="2.0"),
    GlueArgument("--user-jars-first", "user_jars_first", Form.ON, here=_HONOURED, since="2.0"),
    # What Glue passes to every script, or its library parses.
    GlueArgument("--JOB_ID", instead=_INTERNAL, commands=PYTHON, passed=Passed.BY_GLUE_ALONE),
    GlueArgument("--JOB_NAME", instead=_INTERNAL, commands=PYTHON, passed=Passed.BY_GLUE),
    GlueArgument("--JOB_RUN_ID", instead=_INTERNAL, commands=PYTHON, passed=Passed.BY_GLUE_ALONE),
    GlueArgument("--RedshiftTempDir", instead="temp=", here=_HONOURED, passed=Passed.OPTIONAL),
    GlueArgument("--SECURITY_CONFIGURATION", instead=_INTERNAL, passed=Passed.ALONE),
    GlueArgument("--WORKFLOW_NAME", instead=_INTERNAL, commands=PYTHON, passed=Passed.BY_WORKFLOW),
    GlueArgument(
        "--WORKFLOW_RUN_ID", instead=_INTERNAL, commands=PYTHON, passed=Passed.BY_WORKFLOW
    ),
)
GLUE_ARGUMENTS = {argument.name: argument for argument in _TABLE}


def names_passed(*by: Passed) -> set[str]:
    """Return the names, without dashes, of arguments that are passed in some ways."""
    return {name.removeprefix("--") for name, known in GLUE_ARGUMENTS.items() if known.passed in by}
