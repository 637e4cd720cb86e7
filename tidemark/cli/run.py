"""`tidemark run`: a workflow from its start trigger to its end, wherever its jobs run."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console

from tidemark.checks.unserved_tables import unserved_tables
from tidemark.cli.engines import prepare_sparks
from tidemark.cli.environment import with_executors
from tidemark.cli.machines import run_machine
from tidemark.cli.progress import JobProgress, RunConsole, print_outcome, print_unserved
from tidemark.cli.runs import changes_of, watch
from tidemark.cli.synth import assembly_folder
from tidemark.cli.target import glue_of_stage, open_target
from tidemark.cli.terminal import print_json
from tidemark.cli.views.runs import run_json, workflow_run_json
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_service.commands import App, load_app, region
from tidemark.glue_service.deployments import versions_of_runs
from tidemark.glue_service.one_run import chosen_workflow, run_workflow
from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.glue_service.served import ServedPort, deploy, find_port
from tidemark.glue_service.workflows.selection import Selection
from tidemark.glue_service.workflows.whole_run import WorkflowResult
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.operate.clients import Glue, of_port
from tidemark.operate.job_runs import follow_run, start_run, stop_runs
from tidemark.operate.workflow_runs import COMPLETED, WorkflowRun, arguments_in, start_workflow_run
from tidemark.report.lineage.emitter import lineage_to

FAILURE = 1


@dataclass(frozen=True)
class RunOptions:
    """What the options say of a run."""

    workflow: str | None
    only: str | None
    begin: str | None
    isolated: bool
    s3_semantics: bool
    skip_crawlers: bool
    lineage: str | None
    output: str

    def check_machine(self) -> None:
        """Refuse what is for a workflow only."""
        others = (self.workflow, self.only, self.begin, self.lineage)
        flags = (self.isolated, self.s3_semantics, self.skip_crawlers)
        if any(flags) or any(other is not None for other in others):
            raise UsageError(
                "--machine runs a state machine: leave out --from, --isolated, --lineage, --only, "
                "--s3-semantics, --skip-crawlers and --workflow, which are for a workflow"
            )

    def check_elsewhere(self, who: str, option: str) -> None:
        """Refuse what only an engine of this command's own can do."""
        own = (self.isolated, self.s3_semantics, self.skip_crawlers, self.lineage is not None)
        if any(own) or asked_for(os.environ):
            raise UsageError(
                f"{who} runs the jobs: leave out --executors, --isolated, --lineage, --master, "
                "--s3-semantics and --skip-crawlers, which are for the runs of this command's own"
            )
        if self.begin is not None:
            raise UsageError(
                f"{who} runs the jobs, and there a workflow run can start at a job only by "
                f"resuming an earlier run: `tidemark resume --from {self.begin}{option}`"
            )


def run(where: Where, **options: Any) -> None:
    executors, master = options.pop("executors"), options.pop("master")
    machine, given, tasks = options.pop("machine"), options.pop("given"), options.pop("task")
    if machine is None and (given is not None or tasks):
        raise UsageError("--input and --task are for a state machine: give --machine NAME too")
    request = RunOptions(**options)
    if request.only is not None and request.begin is not None:
        raise UsageError("--only runs one job and --from also what follows: give one of the two")
    with with_executors(executors, master):
        if machine is None:
            code = _run(where, request)
        else:
            request.check_machine()
            code = run_machine(where, machine, given, tasks, request.output)
    sys.exit(code)


def _run(where: Where, request: RunOptions) -> int:
    """Run a workflow, and return the exit code: by a Glue that is served, else by one of ours."""
    if where.stage is not None:
        request.check_elsewhere(f"stage {where.stage}", where.option)
        with glue_of_stage(where) as glue:
            return _run_on(glue, glue.names.workflow(request.workflow), where, request)

    console, home = RunConsole(stderr=request.output == "json"), Home.from_environment()
    served = find_port(home)
    if served is None or served.is_of_command:
        return _run_here(home, console, where, request)
    request.check_elsewhere(f"process {served.pid} serves {home.root}, and", where.option)
    with _deployed_to(served, home, _app(console, where, home), request) as (glue, workflow):
        return _run_on(glue, workflow, where, request)


def _app(console: Console, where: Where, home: Home) -> App:
    # The Sparks are made before the first job starts: that may take minutes, and may fail.
    app = load_app(assembly_folder(console, where.app, where.context))
    print_unserved(console, unserved_tables(app.deployment, app.assembly.assets))
    prepare_sparks(versions_of_runs(app, home))
    return app


@contextmanager
def _deployed_to(
    served: ServedPort, home: Home, app: App, request: RunOptions
) -> Iterator[tuple[Glue, str]]:
    name = chosen_workflow(app.deployment, request.workflow)
    is_of_json = request.output == "json"
    click.echo(f"process {served.pid} serves {home.root}, and runs this", err=is_of_json)
    click.echo(deploy(served, app.folder), err=is_of_json)
    with of_port(served.url, str(home.root), region(), access_key(home).arguments) as glue:
        yield glue, name


def _run_on(glue: Glue, workflow: str, where: Where, request: RunOptions) -> int:
    """Start a workflow, or one job with the arguments of its trigger, and watch it to its end."""
    if request.only is None:
        return watch(glue, workflow, start_workflow_run(glue, workflow), where, request.output)
    return _run_job(glue, workflow, glue.names.job(request.only), where, request.output)


def _run_job(glue: Glue, workflow: str, job: str, where: Where, output: str) -> int:
    console = RunConsole(stderr=output == "json")
    changes = changes_of(where)
    job_run = start_run(glue, job, arguments_in(glue, workflow, job))
    try:
        for now in follow_run(glue, job_run):
            job_run = now
            changes.show(console, [job_run])
    except KeyboardInterrupt:
        stop_runs(glue, job, job_run)
        click.echo(f"{job} {job_run.run_id} is being stopped", err=True)
        raise
    if output == "json":
        print_json(run_json(job_run))
    return 0 if job_run.state == "SUCCEEDED" else FAILURE


def _run_here(home: Home, console: Console, where: Where, request: RunOptions) -> int:
    # It can do what no operation of Glue can: start at a job, take crawlers as SUCCEEDED.
    job = request.only if request.begin is None else request.begin
    selection = None if job is None else Selection(job, has_following=request.begin is not None)
    progress = JobProgress(console)
    # JVMs start while the app is synthesized. One that is says whether any is needed.
    given = None if where.app is None else _app(console, where, home)
    is_ahead = given is None or bool(versions_of_runs(given, home))
    with (
        lineage_to(request.lineage, home, progress.say) as progress.lineage,
        jvms_of(home, is_isolated=request.isolated, is_ahead=is_ahead, say=progress.say) as jvms,
    ):
        app = given or _app(console, where, home)
        with progress:
            result = run_workflow(
                app,
                home,
                request.workflow,
                progress,
                jvms,
                skips_crawlers=request.skip_crawlers,
                selection=selection,
            )
    print_outcome(console, result)
    if request.output == "json":
        _print_json(chosen_workflow(app.deployment, request.workflow), result, request)
    return 0 if result.is_success else FAILURE


def _print_json(workflow: str, result: WorkflowResult, request: RunOptions) -> None:
    # With --only it is the run of the job, as on AWS.
    last = {run.job_name: run.run_id for run in result.job_runs}  # a retry is after its run
    with open_target(Where(None)) as target:
        runs = [run for run in target.runs(list(last)) if run.run_id == last[run.job]]
    if request.only is not None and runs:
        shown = run_json(runs[0], has_rows=True)
    else:
        whole = WorkflowRun(workflow, result.run_id, COMPLETED, tuple(runs), result.blocked)
        shown = workflow_run_json(whole, has_rows=True)
    print_json(shown)
