"""Two runs of a job at once, as far as its MaxConcurrentRuns allows them."""

import time
from collections.abc import Sequence

from tidemark.glue_service.commands import App
from tidemark.glue_service.deployments import define, prepare
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.runs.job_runs import start_job_run
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import FINAL_STATES
from tidemark.operate.versions.trial import Observe, Start

COUNT = 2
LOOK_S = 0.1


def why_not_together(app: App | None, job: str | None) -> str:
    """Return why two runs cannot go on at once; empty if they can."""
    if app is None:
        return "a submitted script has a MaxConcurrentRuns of 1"
    if job is None:
        return "the runs of a workflow start one after the other; prove a job of it"
    allowed = app.deployment.jobs[job].max_concurrent_runs
    return "" if allowed >= COUNT else f"MaxConcurrentRuns of {job} is {allowed}"


def two_at_once(app: App, job: str) -> Start:
    """Return what starts two runs of a job at once, with the arguments of its trigger."""
    actions = [it for one in app.deployment.triggers for it in one.actions if it.job_name == job]
    arguments = dict(actions[0].arguments) if actions else {}

    def start(
        home: Home, version: str, jvms: Jvms, settings: Sequence[str], observe: Observe
    ) -> None:
        with serving(home, Options(jvms=jvms, is_of_command=True, max_parallel=COUNT)) as (
            _,
            engine,
        ):
            endpoint = engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
            deployment = prepare(app, home, endpoint)
            engine.ask(lambda glue: define(glue, app, deployment))
            request = {"JobName": job, "Arguments": arguments}
            ids = [
                engine.ask(lambda glue: start_job_run(glue, request))["JobRunId"]
                for _ in range(COUNT)
            ]
            while any(not _has_ended(engine, run_id) for run_id in ids):
                observe(None)
                time.sleep(LOOK_S)

    return start


def _has_ended(engine: Engine, run_id: str) -> bool:
    run = engine.ask(lambda glue: glue.store.job_run(run_id))
    return run is not None and run.state in FINAL_STATES
