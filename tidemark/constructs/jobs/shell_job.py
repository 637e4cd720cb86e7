"""A Python shell job: a Python script without Spark.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-job-python.html
"""

from constructs import Construct

from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.jobs.job_props import SharedParts, ShellJobProps
from tidemark.model.checked import checked
from tidemark.model.stage.runtime import GLUE_VERSION, PYTHON, ShellRuntime

LOGS = "/aws-glue/python-jobs"  # --custom-logGroup-prefix is for Spark jobs only


@checked
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

    runtime: ShellRuntime

    def __init__(
        self, scope: Construct, id_: str, *, name: str, shared: SharedParts, props: ShellJobProps
    ) -> None:
        """Declare the job.

        Args:
            scope: the construct that owns the job.
            id_: construct id; renaming it replaces the role, not the job.
            name: Glue job name in kebab case.
            shared: the parts that the job shares with the others of its pipeline.
            props: what the job declares, as `Pipeline.add_shell_job` describes it.

        Raises:
            JobDefinitionError: the job cannot be deployed.
        """
        usual = shared.stage.runtime
        self.runtime = runtime = props["runtime"] or ShellRuntime(
            timeout_minutes=usual.timeout_minutes, max_retries=usual.max_retries
        )
        modules = ",".join(props["python_modules"])
        super().__init__(
            scope,
            id_,
            name=name,
            shared=shared,
            props=props,
            command="pythonshell",
            logs=LOGS,
            arguments={
                "--job-language": "python",
                # Glue spells this one without dashes.
                "library-set": "analytics" if runtime.analytics_libraries else "none",
                **({"--additional-python-modules": modules} if modules else {}),
            },
            run_properties=props["run_properties"],
        )
        self._create(
            f"{PYTHON[0]}.{PYTHON[1]}",
            glue_version=GLUE_VERSION,
            max_capacity=runtime.capacity.value,
            # With a queue a second start waits; without one Glue refuses it.
            job_run_queuing_enabled=runtime.max_retries == 0,
            notification_property=self._notification(runtime.timeout_minutes),
        )
