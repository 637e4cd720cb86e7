"""The environment variables of a job run, and the files of Spark that they name."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidemark.glue_job.cluster.asked import (
    EXECUTORS_VARIABLE,
    FOR_YARN,
    MASTER_VARIABLE,
    YARN,
    Asked,
    asked_for,
    memory_bytes,
    too_small_for,
)
from tidemark.glue_job.metastore.catalog_settings import catalog_settings
from tidemark.glue_job.process.borrow import COLD_VARIABLE, FORMAT_JARS_VARIABLE, RUN_POOL_VARIABLE
from tidemark.glue_job.process.job_process import BOOKMARK_VARIABLE, SHELL_VARIABLE
from tidemark.glue_job.process.lake_fs.semantics import (
    FOLDER,
    OPTIMIZED,
    delete_dead_uploads,
    semantics_of,
)
from tidemark.glue_job.process.own_jvm import own_jvm_reason
from tidemark.glue_job.process.spark import write_spark_conf
from tidemark.glue_service.runs.arguments import (
    DRIVER_VARIABLES,
    EXECUTOR_VARIABLES,
    spark_settings,
    variables,
)
from tidemark.glue_service.runs.extra_files import copy_extra_files, jar_settings, jars_of
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import RUN_ID_VARIABLE, UPLOADS, Home
from tidemark.local_state.lost_executor import EXECUTORS, moment_of
from tidemark.local_state.machine.processes import inherited
from tidemark.local_state.operations import records_operations
from tidemark.local_state.run_notes import FILES_VARIABLE
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.local_state.sparks.installed import Spark
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.sites import SITES

PORT_VARIABLE = "AWS_ENDPOINT_URL"  # boto3's endpoint for services without a variable of their own
NOWHERE = "http://127.0.0.1:9"  # nothing listens on this port (discard)
HERE = "127.0.0.1,localhost"  # the local DynamoDB: no proxy reaches it


@dataclass(frozen=True)
class Machine:
    """The parts that all job runs of one command share.

    `port` is the URL of the local Glue, if any; `submitted_files` are the known project files of
    which the scripts of jobs are copies. `semantics` are those of the lake for Spark, `asked` is
    where executors are.
    """

    home: Home
    java_home: Path
    dynamodb_endpoint: str
    region: str
    jvms: Jvms = NO_JVMS
    port: str | None = None
    submitted_files: dict[str, str] = field(default_factory=dict, compare=False)
    semantics: str = field(default_factory=lambda: semantics_of(os.environ))
    asked: Asked = field(default_factory=lambda: asked_for(os.environ))


def spark_variables(
    machine: Machine, job: JobDefinition, spark: Spark, folder: Path, arguments: Mapping[str, str]
) -> dict[str, str]:
    """Write a Spark job's files into its folder; return its environment variables."""
    losing = moment_of(machine.home)
    asked = Asked(EXECUTORS) if losing else machine.asked
    delete_dead_uploads(machine.home.root / UPLOADS)
    copy_extra_files(machine.home, job, arguments, folder)
    jars = jars_of(machine.home, job, arguments, spark)
    of_executors = variables(arguments, EXECUTOR_VARIABLES)
    settings = {
        **_committer_settings(machine, job, arguments),
        **(SPECULATION if losing else {}),
        **{f"spark.executorEnv.{name}": value for name, value in of_executors.items()},
        **jar_settings(jars, arguments, spark_settings(arguments)),
    }
    catalog = catalog_settings(machine.home, arguments, settings)
    settings |= catalog.settings
    spark = replace(spark, format_jars=jars.formats)
    for_yarn = FOR_YARN if asked.master == YARN else ()
    return {
        **variables(arguments, DRIVER_VARIABLES),
        **catalog.variables,
        **write_spark_conf(
            folder, machine.home, machine.java_home, settings, spark, machine.semantics, asked
        ),
        EXECUTORS_VARIABLE: str(asked.executors or ""),
        MASTER_VARIABLE: asked.master,
        # Spark starts no run on YARN without the variables that show where it is.
        **{name: os.environ[name] for name in for_yarn if name in os.environ},
        FORMAT_JARS_VARIABLE: os.pathsep.join(map(str, jars.formats)),
        **_jvm_variables(machine.jvms, settings, asked.own_jvm_reason or jars.own_jvm),
    }


def shell_variables() -> dict[str, str]:
    """Return the variables of a run without Spark."""
    return {SHELL_VARIABLE: "1", "TZ": "UTC"}


def _jvm_variables(jvms: Jvms, settings: Mapping[str, str], own_jvm: str) -> dict[str, str]:
    why = jvms.cold_reason or own_jvm or own_jvm_reason(settings, {}, {})
    return {COLD_VARIABLE: why} if why else {RUN_POOL_VARIABLE: str(jvms.pool_file)}


def _committer_settings(
    machine: Machine, job: JobDefinition, arguments: Mapping[str, str]
) -> dict[str, str]:
    if machine.semantics == FOLDER:
        return {}
    argument = GLUE_ARGUMENTS["--enable-s3-parquet-optimized-committer"]
    is_off = arguments.get(argument.name, "").lower() == "false"
    return {OPTIMIZED: "false"} if is_off and argument.is_known_by(job.glue_version) else {}


def environment_of(
    machine: Machine, folder: Path, run: JobRun, libraries: list[Path]
) -> dict[str, str]:
    """Return the environment of a job run, without the engine's additions."""
    direct = ",".join(filter(None, (os.environ.get("no_proxy", os.environ.get("NO_PROXY")), HERE)))
    place = machine.port or NOWHERE  # AWS only if the user names it
    names = ("GLUE", "CLOUDWATCH_LOGS", "S3", "STS", "IAM", "EVENTBRIDGE") if machine.port else ()
    notes_files = {FILES_VARIABLE: "1"} if records_operations(machine.home) else {}
    return {
        PORT_VARIABLE: place,
        **{f"{PORT_VARIABLE}_{service}": place for service in names},
        **inherited(),
        "no_proxy": direct,
        "NO_PROXY": direct,
        "PYTHONPATH": os.pathsep.join(str(path) for path in (*SITES, *libraries)),
        "PYTHONUNBUFFERED": "1",
        "TIDEMARK_HOME": str(machine.home.root),
        RUN_ID_VARIABLE: run.run_id,
        BOOKMARK_VARIABLE: run.bookmark_option,
        RUN_FOLDER_VARIABLE: str(folder),
        "AWS_ENDPOINT_URL_DYNAMODB": machine.dynamodb_endpoint,
        **access_key(machine.home).variables,
        "AWS_REGION": machine.region,
        "AWS_DEFAULT_REGION": machine.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,  # no profile, endpoint or credentials of the developer
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        **notes_files,
    }


# Tasks that take longer than the others are started twice, earlier than by Spark's defaults.
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.2",
}


def no_executors_reason() -> str:
    """Return why no run of this machine can lose an executor; empty if one can."""
    if sys.platform != "linux":
        return "only Linux reports which process changes the lake"
    return too_small_for(EXECUTORS, memory_bytes())
