"""Commands that begin something: `init`, `new-job` and `adopt`."""

import click

from tidemark.cli.commands.options import FILE, act, renamed
from tidemark.errors import UsageError

SAMPLES = click.Choice(["flights"])
EXAMPLE_HELP = "Write the sample pipeline, with its data, instead of one job."
KINDS = "bookmark-files|watermark-jdbc|merge|publish"
KIND_HELP = "What the job does: docs/job-kinds.md."
AFTER_HELP = "Job to wait for, repeatable; merge and publish take one, and read its output."
KEY_HELP = "Column that identifies the rows of a merge, repeatable; id by default."
ICEBERG_HELP = "Let a merge write a table of Iceberg, with merge_window."
NOTEBOOK_HELP = "Make the script of the cells of a notebook: docs/sessions.md."
PIPELINE_HELP = "Pipeline to add it to, by its file infra/NAME_stack.py; the only one by default."
ACCOUNT_HELP = "Read the AWS account and region of your credentials."
PROFILE_HELP = "Profile of your AWS configuration; by default the AWS CLI's."
TEMPLATE_HELP = (
    "Read a CloudFormation template instead, JSON or YAML, or the folder cdk.out of a CDK app."
)
PARAMETER_HELP = (
    "A parameter of the template, AWS::Region, AWS::AccountId, or the name that a deployment gave "
    "to a resource, by its logical id; may be repeated."
)
NAME_HELP = "Name of the new pipeline; by default derived from the workflow or the first job."
ROLES_HELP = "Let jobs and crawlers keep their roles, which get a policy more each."
OUT_HELP = "Folder of the project to write into; the current one by default."


@click.command()
@click.argument("name")
@click.option("--example", "sample", type=SAMPLES, help=EXAMPLE_HELP)
@renamed("--from", "--example", "sample", type=SAMPLES)
@act("scaffold.init")
def init() -> None:
    """Write a new project into the folder NAME: an app, a stack, a job with its test, CI.

    NAME is part of the names of stacks and buckets: lower case letters and digits, in words joined
    by hyphens.
    """


@click.command("new-job")
@click.argument("name", required=False)
@click.option("--kind", default="bookmark-files", metavar=KINDS, show_default=True, help=KIND_HELP)
@click.option("--after", multiple=True, metavar="JOB", help=AFTER_HELP)
@click.option("--key", multiple=True, metavar="COLUMN", help=KEY_HELP)
@click.option("--iceberg", is_flag=True, help=ICEBERG_HELP)
@click.option("--from-notebook", type=FILE, metavar="FILE", help=NOTEBOOK_HELP)
@click.option("--pipeline", metavar="NAME", help=PIPELINE_HELP)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@act("scaffold.new_job")
def new_job() -> None:
    """Scaffold the job NAME: a script that runs, its test, and its call in a pipeline.

    No existing file is overwritten, except that the call is inserted into the stack of the
    pipeline and that the snapshots of the templates and the state manifest are brought up to date.
    """


def refuse_terraform(context: click.Context, option: click.Parameter, file: str | None) -> None:
    """Say what reads the jobs of a state file of Terraform since it is no source any more."""
    if file is not None:
        raise UsageError(
            "--terraform is gone: a state file shows less of the jobs than the account that it is "
            "of; read them there: --from-account --profile PROFILE --region REGION"
        )


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option("--workflow", metavar="NAME", help="Adopt this workflow with all its jobs.")
@click.option("--from-account", is_flag=True, help=ACCOUNT_HELP)
@click.option("--profile", metavar="NAME", help=PROFILE_HELP)
@click.option("--region", metavar="REGION", help="AWS region; by default the AWS CLI's.")
@click.option("--terraform", hidden=True, expose_value=False, callback=refuse_terraform)
@click.option("--template", type=FILE, metavar="PATH", help=TEMPLATE_HELP)
@click.option("--parameter", "parameters", multiple=True, metavar="KEY=VALUE", help=PARAMETER_HELP)
@click.option("--name", metavar="NAME", help=NAME_HELP)
@click.option("--keep-roles", is_flag=True, help=ROLES_HELP)
@click.option("--output", "out", type=FILE, default=".", metavar="DIR", help=OUT_HELP)
@renamed("--out", "--output", "out", type=FILE, metavar="DIR")
@click.option(
    "--format",
    "output",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    help="Write the plan as Markdown, or as JSON.",
)
@act("adopt.adopt")
def adopt() -> None:
    """Write existing Glue jobs as a pipeline, and a plan to move to it without losing state.

    Reads the JOBs, or all of a workflow, with their triggers; changes nothing of them. Writes
    infra/NAME_stack.py, the scripts into glue_jobs/, and NAME-migration.md: the steps, what is
    guessed, and what is different. Nothing is overwritten.
    """
