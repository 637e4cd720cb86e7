"""Commands that begin something: `init`, `new-job` and `adopt`."""

import click

from tidemark.cli.commands.options import FILE, act, renamed
from tidemark.errors import UsageError

SAMPLES = click.Choice(["flights"])
KINDS = "bookmark-files|watermark-jdbc|merge|publish"


@click.command()
@click.argument("name")
@click.option("--example", "sample", type=SAMPLES)
@renamed("--from", "--example", "sample", type=SAMPLES)
@act("scaffold.init")
def init() -> None:
    """Write a new project into the folder NAME: an app, a stack, a job with its test, CI.

    NAME is part of the names of stacks and buckets: lower case letters and digits, in words joined
    by hyphens.

    Args:
        sample: Write the sample pipeline, with its data, instead of one job.
    """


@click.command("new-job")
@click.argument("name", required=False)
@click.option("--kind", default="bookmark-files", metavar=KINDS, show_default=True)
@click.option("--after", multiple=True, metavar="JOB")
@click.option("--key", multiple=True, metavar="COLUMN")
@click.option("--iceberg", is_flag=True)
@click.option("--from-notebook", type=FILE, metavar="FILE")
@click.option("--pipeline", metavar="NAME")
@click.option("--dry-run", is_flag=True)
@act("scaffold.new_job")
def new_job() -> None:
    """Scaffold the job NAME: a script that runs, its test, and its call in a pipeline.

    No existing file is overwritten, except that the call is inserted into the stack of the
    pipeline and that the snapshots of the templates and the state manifest are brought up to date.

    Args:
        kind: What the job does: docs/job-kinds.md.
        after: Job to wait for, repeatable; merge and publish take one, and read its output.
        key: Column that identifies the rows of a merge, repeatable; id by default.
        iceberg: Let a merge write a table of Iceberg, with merge_window.
        from_notebook: Make the script of the cells of a notebook: docs/sessions.md.
        pipeline: Pipeline to add it to, by its file infra/NAME_stack.py; the only one by default.
        dry_run: Show what would be written, and write nothing.
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
@click.option("--workflow", metavar="NAME")
@click.option("--from-account", is_flag=True)
@click.option("--profile", metavar="NAME")
@click.option("--region", metavar="REGION")
@click.option("--terraform", hidden=True, expose_value=False, callback=refuse_terraform)
@click.option("--template", type=FILE, metavar="PATH")
@click.option("--parameter", "parameters", multiple=True, metavar="KEY=VALUE")
@click.option("--name", metavar="NAME")
@click.option("--keep-roles", is_flag=True)
@click.option("--output", "out", type=FILE, default=".", metavar="DIR")
@renamed("--out", "--output", "out", type=FILE, metavar="DIR")
@click.option("--format", "output", type=click.Choice(["markdown", "json"]), default="markdown")
@act("adopt.adopt")
def adopt() -> None:
    """Write existing Glue jobs as a pipeline, and a plan to move to it without losing state.

    Reads the JOBs, or all of a workflow, with their triggers; changes nothing of them. Writes
    infra/NAME_stack.py, the scripts into glue_jobs/, and NAME-migration.md: the steps, what is
    guessed, and what is different. Nothing is overwritten.

    Args:
        workflow: Adopt this workflow with all its jobs.
        from_account: Read the AWS account and region of your credentials.
        profile: Profile of your AWS configuration; by default the AWS CLI's.
        region: AWS region; by default the AWS CLI's.
        template: Read a CloudFormation template instead, JSON or YAML, or the folder cdk.out of a
            CDK app.
        parameters: A parameter of the template, AWS::Region, AWS::AccountId, or the name that a
            deployment gave to a resource, by its logical id; may be repeated.
        name: Name of the new pipeline; by default derived from the workflow or the first job.
        keep_roles: Let jobs and crawlers keep their roles, which get a policy more each.
        out: Folder of the project to write into; the current one by default.
        output: Write the plan as Markdown, or as JSON.
    """
