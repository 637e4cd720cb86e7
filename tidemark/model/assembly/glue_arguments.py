"""Every argument that Glue itself reads: how to set it, for which jobs, and its effect here.

The documented list, and what Glue passes or reads beyond it. The constructs, the local Glue, the
linter and docs/glue-arguments.md decide by this table.
Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html,
https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-security-for-auto-upgrade.html
"""

from dataclasses import dataclass
from enum import Enum

from tidemark.model.assembly.glue_versions import version_of_run

SPARK = ("glueetl", "gluestreaming")
STREAMING = ("gluestreaming",)
PYTHON = (*SPARK, "pythonshell")


class Here(Enum):
    """How the local Glue treats an argument."""

    HONOURED = "honoured"
    PASSED_ON = "tunes, logs or measures only"
    REFUSED = "refused"


@dataclass(frozen=True)
class GlueArgument:
    """An argument that Glue reads.

    Attributes:
        name: with its dashes.
        field: of `GlueArguments` that sets it; empty if something else does.
        instead: if no field sets it: what does, or why nothing does.
        here: how the local Glue treats it.
        remedy: the alternative if it is refused here.
        commands: kinds of jobs that know it, by the name of their command.
        since: the first version of Glue that knows it; empty: every one.
        until: the last version of Glue that knows it; empty: every one.
    """

    name: str
    field: str = ""
    instead: str = ""
    here: Here = Here.PASSED_ON
    remedy: str = ""
    commands: tuple[str, ...] = SPARK
    since: str = ""
    until: str = ""

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

_TABLE = (
    GlueArgument(
        "--additional-python-modules",
        instead="python_modules=",
        here=_HONOURED,
        commands=PYTHON,
    ),
    GlueArgument(
        "--auto-scale-within-microbatch", "auto_scale_within_microbatch", commands=STREAMING
    ),
    GlueArgument("--auto-upgrade-metadata-kms-key-arn", "auto_upgrade_metadata_kms_key"),
    GlueArgument(
        "--class",
        instead="it is for Scala; jobs are written in Python",
        here=_REFUSED,
        remedy="only Python scripts run here",
    ),
    GlueArgument("--conf", "conf", here=_HONOURED),
    GlueArgument("--continuation-option", instead="bookmark=", here=_HONOURED),
    GlueArgument("--continuous-log-conversionPattern", instead=_LOGS, until="4.0"),
    GlueArgument("--continuous-log-logGroup", instead=_LOGS, until="4.0"),
    GlueArgument("--continuous-log-logStreamPrefix", instead=_LOGS, until="4.0"),
    GlueArgument(
        "--custom-logGroup-prefix", instead="the pipeline, which creates the groups", since="5.0"
    ),
    GlueArgument("--custom-logStream-prefix", "log_stream_prefix", since="5.0"),
    GlueArgument("--customer-driver-env-vars", "driver_variables", here=_HONOURED),
    GlueArgument("--customer-executor-env-vars", "executor_variables", here=_HONOURED),
    GlueArgument(
        "--datalake-formats",
        "datalake_formats",
        here=_HONOURED,
        since="3.0",
    ),
    GlueArgument("--debug", instead=_INTERNAL),
    GlueArgument("--disable-proxy-v2", "disable_proxy"),
    GlueArgument(
        "--enable-auto-scaling",
        instead="runtime=, JobRuntime(auto_scaling=True)",
        since="3.0",
    ),
    GlueArgument("--enable-continuous-cloudwatch-log", instead=_LOGS, until="4.0"),
    GlueArgument("--enable-continuous-log-filter", instead=_LOGS, until="4.0"),
    GlueArgument("--enable-data-lineage", instead=_INTERNAL),
    GlueArgument(
        "--enable-glue-datacatalog",
        "glue_datacatalog",
        here=_HONOURED,
    ),
    GlueArgument("--enable-job-insights", "job_insights", since="2.0"),
    GlueArgument(
        "--enable-lakeformation-fine-grained-access",
        "lakeformation_fine_grained_access",
        here=_REFUSED,
        remedy="Lake Formation does not run here: leave it out; jobs read what they declare",
        commands=("glueetl",),
        since="5.0",
    ),
    GlueArgument("--enable-metrics", instead="metrics of the stage, StageConfig(metrics=True)"),
    GlueArgument("--enable-observability-metrics", "observability_metrics", since="4.0"),
    GlueArgument(
        "--enable-rename-algorithm-v2", instead="Glue 1.0 was its last version", until="1.0"
    ),
    GlueArgument(
        "--enable-s3-parquet-optimized-committer",
        "s3_parquet_optimized_committer",
        here=_HONOURED,
        since="2.0",
        until="5.1",  # of EMRFS, which Glue 6.0 no longer has
    ),
    GlueArgument("--enable-spark-ui", "spark_ui"),
    GlueArgument(
        "--encryption-type", instead="the security configuration of the pipeline, which encrypts"
    ),
    GlueArgument("--endpoint", instead=_INTERNAL),
    GlueArgument("--executor-cores", "executor_cores", since="3.0"),
    GlueArgument("--extra-files", "extra_files", here=_HONOURED),
    GlueArgument("--extra-jars", "extra_jars", here=_HONOURED),
    GlueArgument("--extra-py-files", "extra_py_files", here=_HONOURED, commands=PYTHON),
    GlueArgument(
        "--job-bookmark-from", instead="the start of one run, with a range", here=_HONOURED
    ),
    GlueArgument("--job-bookmark-option", instead="bookmark=", here=_HONOURED),
    GlueArgument("--job-bookmark-to", instead="the start of one run, with a range", here=_HONOURED),
    GlueArgument("--job-language", instead="the construct: python", here=_HONOURED),
    GlueArgument("--mode", instead=_INTERNAL),
    GlueArgument(
        "--python-modules-installer-option",
        "python_modules_installer_option",
        commands=PYTHON,
    ),
    GlueArgument(
        "--python-virtual-env",
        "python_virtual_env",
        here=_REFUSED,
        remedy=_VENV,
        since="5.0",
    ),
    GlueArgument("--python-virtual-env-storage-prefix", "python_virtual_env_cache", since="6.0"),
    GlueArgument("--python-virtual-env-version", "python_virtual_env_version", since="6.0"),
    GlueArgument(
        "--scriptLocation",
        instead="script=",
        here=_REFUSED,
        remedy="set Command.ScriptLocation of the job",
        commands=PYTHON,
    ),
    GlueArgument("--spark-event-logs-path", "spark_ui"),
    GlueArgument("--TempDir", instead="temp=", here=_HONOURED, commands=PYTHON),
    GlueArgument("--use-postgres-driver", instead="Glue 2.0 was its last version", until="2.0"),
    GlueArgument("--user-jars-first", "user_jars_first", here=_HONOURED, since="2.0"),
    # What Glue passes to every script, or its library parses.
    GlueArgument("--JOB_ID", instead=_INTERNAL, commands=PYTHON),
    GlueArgument("--JOB_NAME", instead=_INTERNAL, commands=PYTHON),
    GlueArgument("--JOB_RUN_ID", instead=_INTERNAL, commands=PYTHON),
    GlueArgument("--RedshiftTempDir", instead="temp=", here=_HONOURED),
    GlueArgument("--SECURITY_CONFIGURATION", instead=_INTERNAL),
    GlueArgument("--WORKFLOW_NAME", instead=_INTERNAL, commands=PYTHON),
    GlueArgument("--WORKFLOW_RUN_ID", instead=_INTERNAL, commands=PYTHON),
)
GLUE_ARGUMENTS = {argument.name: argument for argument in _TABLE}
