"""A Python shell job: a Python script without Spark.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-job-python.html
"""

from pathlib import Path

from aws_cdk import aws_glue as glue
from constructs import Construct

from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.job_checks import check_type
from tidemark.constructs.jobs.job_kind import JobKind
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.jobs.job_uses import JobUses, check_job
from tidemark.constructs.jobs.shared_parts import SharedParts
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.shell_runtime import GLUE_VERSION, PYTHON, ShellRuntime

LOGS = "/aws-glue/python-jobs"  # --custom-logGroup-prefix is of Spark jobs


class ShellJob(GlueJob):
    """Creates a Python shell job and a role that allows what the job declares, and nothing else.

    It keeps no state: Glue has no bookmarks for such jobs, and the watermark library needs a newer
    Python. Packages in `libs/` of the project do not ship to it, since it installs wheels only.

    Attributes:
        name: the Glue job name.
        role: the role the job runs with.
        logs: its log groups.
        resource: the job itself.
        runtime: what the job runs on.
        reads: data the job reads.
        writes: data the job writes.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        script: Path,
        shared: SharedParts,
        runtime: ShellRuntime,
        uses: JobUses | None = None,
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case.
            script: the Python file that Glue runs, of Python 3.9.
            shared: what the job has in common with the others of its pipeline.
            runtime: capacity, timeout and retries.
            uses: data, arguments, tables and so on, as `Pipeline.add_job` describes them.

        Raises:
            JobDefinitionError: something of this cannot be deployed.
        """
        uses = uses or JobUses()
        check_job(name, script, uses)
        check_type(name, "runtime", runtime, ShellRuntime, "a ShellRuntime")
        options = uses.options or JobOptions()
        options.check(
            name, timeout_minutes=runtime.timeout_minutes, bookmark=False, watermark=False
        )
        self.runtime = runtime
        modules = ",".join(uses.python_modules)
        super().__init__(
            scope,
            id_,
            name=name,
            script=script,
            shared=shared,
            uses=uses,
            kind=JobKind(
                command=("pythonshell", f"{PYTHON[0]}.{PYTHON[1]}"),
                python=PYTHON,
                logs=LOGS,
                arguments={
                    "--job-language": "python",
                    # Glue spells this one without dashes.
                    "library-set": "analytics" if runtime.analytics_libraries else "none",
                    **({"--additional-python-modules": modules} if modules else {}),
                },
                properties={
                    "glue_version": GLUE_VERSION,
                    "max_capacity": runtime.capacity.value,
                    # With a queue a second start waits; without one Glue refuses it.
                    "job_run_queuing_enabled": runtime.max_retries == 0,
                    "max_retries": runtime.max_retries,
                    # Glue tells EventBridge of a run that takes longer.
                    "notification_property": glue.CfnJob.NotificationPropertyProperty(
                        notify_delay_after=(
                            options.notify_after_minutes or max(1, runtime.timeout_minutes // 2)
                        )
                    ),
                    "timeout": runtime.timeout_minutes,
                },
                metadata={"watermark": False},
                ships_libs=False,
            ),
        )


def refuse_watermark(name: str, watermark: object) -> None:
    """Raise if a Python shell job is to keep a watermark.

    Raises:
        JobDefinitionError: it is, with the reason and what to do.
    """
    if watermark is not False:
        raise JobDefinitionError(
            f"job '{name}' is a Python shell job with watermark {watermark!r}; allowed: False, "
            "since the watermark library needs Python 3.11 and such jobs have 3.9; let a job of "
            "add_job keep the watermark"
        )
