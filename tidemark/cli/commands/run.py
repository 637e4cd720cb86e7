"""Commands that run jobs and workflows, and stop them."""

import functools
from typing import Any

import click

from tidemark.cli.commands import options
from tidemark.cli.commands.known_names import JOB, RUN, WORKFLOW
from tidemark.cli.commands.options import FILE, SCRIPT_ARGUMENTS, act
from tidemark.cli.group import Verbs
from tidemark.errors import UsageError
from tidemark.model.assembly.glue_versions import RUN_HERE
from tidemark.model.stage.runtime import MAX_MINUTES

FORMAT_HELP = "Print lines for people; or the run as JSON, and the script's output to stderr."
WORKFLOW_HELP = "The workflow, named as its pipeline; needed if there are several."


@click.command(context_settings=SCRIPT_ARGUMENTS)
@click.argument("script", type=FILE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--engine", type=click.Choice(RUN_HERE))
@click.option("--isolated", is_flag=True, help=options.ISOLATED_HELP)
@click.option("--timeout", type=click.IntRange(1, MAX_MINUTES), metavar="N")
@options.output_format(FORMAT_HELP)
@options.s3_semantics_option(expose_value=False)
@options.executors_options
@act("submit.submit")
def submit() -> None:
    """Run SCRIPT once as a job run, with any ARGUMENTS of Glue (--job-bookmark-option …).

    Buckets are the folders of the home's lake. The job is named as --JOB_NAME says, or after the
    script. What the script uses and this machine does not run is named before it starts. Where
    `tidemark serve --port 4566` serves the home, the script runs there.

    Args:
        engine: Version of Glue to run it as; that of the installed PySpark if not given.
        timeout: Stop the run after so many minutes, as TIMEOUT; 480 if not given, as on AWS.
    """


def unless_command(command: options.Command) -> options.Command:
    """Run the group's own act, or with a command of it only refuse options before its name."""

    @functools.wraps(command)
    def call(**given: Any) -> None:
        ctx = click.get_current_context()
        verb, default = ctx.invoked_subcommand, click.core.ParameterSource.DEFAULT
        if verb is None:
            command(**given)
        for parameter in ctx.command.params if verb else ():
            if ctx.get_parameter_source(parameter.name or "") is not default:
                name = max(parameter.opts, key=len)
                raise UsageError(
                    f"{name} before {verb} is an option of a run that is started: put what belongs "
                    f"to `tidemark run {verb}` after it"
                )

    return call


@click.group(cls=Verbs, invoke_without_command=True, subcommand_metavar="[show ID]")
@options.run_options
@click.option("--workflow", metavar="NAME", type=WORKFLOW)
@click.option("--isolated", is_flag=True, help=options.ISOLATED_HELP)
@options.s3_semantics_option(expose_value=True)
@options.executors_options
@click.option("--skip-crawlers", is_flag=True)
@click.option("--machine", metavar="NAME")
@click.option("--input", "given", metavar="JSON|@FILE")
@click.option(
    "--task",
    multiple=True,
    metavar="STATE=python:FUNCTION",
    help=f"{options.TASK_HELP} Give --machine too.",
)
@click.option("--only", metavar="JOB", type=JOB)
@click.option("--from", "begin", metavar="JOB", type=JOB)
@click.option("--lineage", metavar="FILE|URL", help=options.LINEAGE_HELP)
@options.table_or_json
@unless_command
@act("run.run")
def run() -> None:
    """Run a whole workflow once, every job incrementally.

    An app with one pipeline has one workflow, and that is run. With more, --workflow is required.
    While it works, boto3 in scripts reaches Glue, Logs and S3 of this machine. Where `tidemark
    serve --port` serves the home, the app is deployed and runs there. Ctrl-C stops the run.
    With --machine a state machine of the app runs, and its steps are shown.

    With --deployed STAGE the workflow runs on AWS, as it is deployed there, and is shown until it
    ends; --from, --executors, --isolated, --lineage, --master, --s3-semantics and --skip-crawlers
    are for this machine, as counts of rows are. `tidemark run show ID` starts nothing: it shows a
    job run.

    Args:
        workflow: Workflow to run, named as its pipeline; required if the app has several.
        skip_crawlers: Run the jobs of a workflow without its crawlers; each counts as SUCCEEDED.
        machine: Run this state machine of the app, in place of a workflow.
        given: The input of the execution of --machine; {} if not given.
        only: Run this job of the workflow alone.
        begin: Run this job and what follows it.
    """


@run.command("show")
@click.argument("run_id", metavar="ID", type=RUN)
@options.where_options
@options.shows("run_show.show")
def run_show() -> None:
    """Show what the job run ID has read, written and moved, its warnings, cost and last lines.

    A prefix of an id is enough; `tidemark runs` lists them.
    """


@click.command()
@click.argument("name", required=False)
@options.ask_on_aws
@options.start_options
@options.table_or_json
@act("runs.trigger")
def trigger() -> None:
    """Fire the ON_DEMAND trigger NAME, or activate one of another type; without NAME, list all.

    One that begins a workflow starts a run of it. The command does not wait for the runs, but
    where no `tidemark serve` serves this machine's home: then it runs them itself, shows them,
    and the exit code is 1 if one does not succeed.
    """


@click.command()
@click.option("--workflow", metavar="NAME", type=WORKFLOW, help=WORKFLOW_HELP)
@click.option("--run", "run_id", metavar="ID", type=RUN)
@click.option("--from", "begin", metavar="JOB", type=JOB, multiple=True)
@click.option("--machine", metavar="NAME")
@options.ask_on_aws
@options.start_options
@options.table_or_json
@act("runs.resume")
def resume() -> None:
    """Run the unsuccessful jobs of a workflow run again, and what follows them.

    It is a new workflow run, in which the jobs that SUCCEEDED stand as they are. Ctrl-C stops it.
    With --machine, an execution that did not succeed continues at the steps that failed.

    Args:
        run_id: The id of the run, or a prefix; by default the last run.
        begin: Start at this job, even if it SUCCEEDED; may be given several times.
        machine: Resume an execution of this state machine; --run names one.
    """


@click.command()
@click.argument("job", type=JOB, required=False)
@click.option("--run", "run_id", metavar="ID", type=RUN)
@click.option("--workflow", metavar="NAME", type=WORKFLOW, help=WORKFLOW_HELP)
@click.option("--machine", metavar="NAME")
@options.ask_on_aws
@options.where_options
@options.table_or_json
@act("runs.stop")
def stop() -> None:
    """Stop the active runs of JOB, or without JOB those of a workflow.

    What a run has committed stays. A run is STOPPING until it has ended: `tidemark runs` shows it.

    Args:
        run_id: The id of a run, or a prefix; by default all in progress.
        machine: Stop executions of this state machine; --run names one.
    """


@click.group(cls=Verbs)
def event() -> None:
    """Put events on the event bus of this machine."""


@event.command("put")
@click.option("--source", required=True, metavar="NAME")
@click.option("--detail-type", required=True, metavar="TEXT")
@click.option("--detail", default="{}", metavar="JSON")
@click.option("--resource", "resources", multiple=True, metavar="ARN")
@click.option("--as-deployed", is_flag=True, help=options.AS_DEPLOYED_HELP)
@act("event.put")
def event_put() -> None:
    """Put an event, and start the workflows whose rules match it.

    The port serves the home meanwhile: `tidemark serve --port 4566 --app cdk.out`. An app whose
    code has changed since is synthesized and deployed there first. This is for
    this machine alone, which takes sources of AWS too, such as aws.s3; on AWS: `aws events
    put-events`.

    Args:
        source: Its source: acme.shop.
        detail_type: What kind of event it is.
        detail: What happened: a JSON object, or @FILE with one.
        resources: What it is about.
    """


@click.command()
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE]...")
@click.option("--python", type=FILE, metavar="FILE")
@click.option("--write-only", is_flag=True)
@act("notebook.notebook")
def notebook() -> None:
    """Open notebooks whose cells run as sessions of Glue on this machine.

    It writes a kernel for the port that `tidemark serve --port 4566` serves, AWS's own
    (aws-glue-sessions), and starts JupyterLab with it, if that is installed. VS Code and other
    editors take the same kernel: docs/sessions.md.

    Args:
        python: The Python that has aws-glue-sessions; this one if not given.
        write_only: Write the kernel and say where it is; start no JupyterLab.
    """
