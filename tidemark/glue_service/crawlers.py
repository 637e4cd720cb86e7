"""Glue's operations on crawlers of folders of S3; a crawl is a job run, with its log and its end.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-crawling.html
"""

from dataclasses import replace
from statistics import median

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    create_entity,
    delete_entity,
    find_entities,
    get_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_tags
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import InvalidInputError, ServiceError
from tidemark.glue_service.runs.active import RunStart
from tidemark.glue_service.runs.crawls import (
    KEY,
    SCRIPT,
    arguments_of_crawl,
    check_crawler,
    crawl_job,
    crawl_state,
)
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.glue_service.submission import put_script
from tidemark.local_state.store.database import FINAL_STATES, JobRun
from tidemark.model.assembly.definitions import CRAWLER

KIND = EntityKind.CRAWLER
READY, RUNNING, STOPPING = "READY", "RUNNING", "STOPPING"
HISTORY = {"SUCCEEDED": "COMPLETED", "STOPPED": "STOPPED"}
VERSION = "Version"
LOG_GROUP = "/aws-glue/jobs/output"
MS_PER_S = 1000


def create_crawler(glue: GlueState, request: Request) -> Answer:
    """Define a crawler."""
    check_crawler(request)
    check_tags(request.get("Tags", {}))
    now_ms, name = glue.now_ms(), request["Name"]
    definition = {key: value for key, value in request.items() if key not in ("Name", "Tags")}
    tags = request.get("Tags", {})
    put_script(glue.machine.home, KEY, SCRIPT)
    create_entity(glue.store, Entity(KIND, name, definition, tags, now_ms, now_ms))
    return {}


def update_crawler(glue: GlueState, request: Request) -> Answer:
    """Replace the given members of a crawler that does not run."""
    entity = get_entity(glue.store, KIND, request["Name"])
    _refuse_running(glue, entity)
    given = {key: value for key, value in request.items() if key != "Name"}
    definition = {**entity.definition, **given, VERSION: entity.definition.get(VERSION, 1) + 1}
    check_crawler(definition)
    put_entity(glue.store, replace(entity, definition=definition, changed_at_ms=glue.now_ms()))
    return {}


def delete_crawler(glue: GlueState, request: Request) -> Answer:
    """Forget a crawler that does not run; its tables stay."""
    entity = get_entity(glue.store, KIND, request["Name"])
    _refuse_running(glue, entity)
    delete_entity(glue.store, KIND, entity.name)
    return {}


def get_crawler(glue: GlueState, request: Request) -> Answer:
    """Return a crawler, with its last crawl."""
    return {"Crawler": _member(glue, get_entity(glue.store, KIND, request["Name"]))}


def get_crawlers(glue: GlueState, request: Request) -> Answer:
    """Return a page of the crawlers, by name."""
    page, token = glue_page(list_entities(glue.store, KIND), request)
    return {"Crawlers": [_member(glue, entity) for entity in page], "NextToken": token}


def list_crawlers(glue: GlueState, request: Request) -> Answer:
    """Return a page of the names of the crawlers that have all the given tags."""
    wanted = request.get("Tags", {}).items()
    named = [entity for entity in list_entities(glue.store, KIND) if wanted <= entity.tags.items()]
    page, token = glue_page(named, request)
    return {"CrawlerNames": [entity.name for entity in page], "NextToken": token}


def batch_get_crawlers(glue: GlueState, request: Request) -> Answer:
    """Return some crawlers, and the names without one."""
    known, missing = find_entities(glue.store, KIND, request["CrawlerNames"])
    return {"Crawlers": [_member(glue, entity) for entity in known], "CrawlersNotFound": missing}


def get_crawler_metrics(glue: GlueState, request: Request) -> Answer:
    """Return how long crawls have taken, in seconds."""
    entities = list_entities(glue.store, KIND)
    if names := request.get("CrawlerNameList"):
        entities = find_entities(glue.store, KIND, names)[0]
    page, token = glue_page(entities, request)
    return {"CrawlerMetricsList": [_metrics(glue, entity) for entity in page], "NextToken": token}


def list_crawls(glue: GlueState, request: Request) -> Answer:
    """Return a page of the crawls of a crawler, the newest first."""
    if "Filters" in request:
        raise InvalidInputError("Filters of ListCrawls are on AWS only: leave them out")
    entity = get_entity(glue.store, KIND, request["CrawlerName"])
    page, token = glue_page(_crawls(glue, entity), request)
    return {"Crawls": list(map(_of_history, page)), "NextToken": token}


def start_crawler(glue: GlueState, request: Request) -> Answer:
    """Start a crawl."""
    entity = get_entity(glue.store, KIND, request["Name"])
    _refuse_running(glue, entity)
    check_crawler(entity.definition)  # one of a template may ask for what does not run here
    stored = RunRequest(new_run_id(), arguments_of_crawl(entity), is_submitted=True)
    glue.runner.start(RunStart(crawl_job(entity.name), stored))
    return {}


def stop_crawler(glue: GlueState, request: Request) -> Answer:
    """Stop a crawl; what it has defined stays."""
    entity = get_entity(glue.store, KIND, request["Name"])
    state, run = _state(glue, entity)
    if state == STOPPING:
        raise ServiceError("CrawlerStoppingException", f"Crawler {entity.name} is stopping already")
    if run is None or state == READY:
        raise ServiceError("CrawlerNotRunningException", f"Crawler {entity.name} is not running")
    glue.runner.stop(run.run_id)
    return {}


def _crawls(glue: GlueState, entity: Entity) -> list[JobRun]:
    """Return the crawls of a crawler, the newest first; not those of an earlier one of its name."""
    return glue.store.job_runs_since(CRAWLER + entity.name, entity.created_at_ms - 1)


def _state(glue: GlueState, entity: Entity) -> tuple[str, JobRun | None]:
    """Return the state of a crawler, and its newest crawl."""
    newest = next(iter(_crawls(glue, entity)), None)
    if newest is None or newest.state in FINAL_STATES:
        return READY, newest
    return STOPPING if newest.state == STOPPING else RUNNING, newest


def _refuse_running(glue: GlueState, entity: Entity) -> None:
    if (state := _state(glue, entity)[0]) != READY:
        raise ServiceError("CrawlerRunningException", f"Crawler {entity.name} is {state}")


def _member(glue: GlueState, entity: Entity) -> Answer:
    """Return a crawler in the form of answers."""
    state, newest = _state(glue, entity)
    ended = next((run for run in _crawls(glue, entity) if run.state in FINAL_STATES), None)
    elapsed = 0 if newest is None or state == READY else glue.now_ms() - newest.started_at_ms
    policy = {"UpdateBehavior": "UPDATE_IN_DATABASE", "DeleteBehavior": "DEPRECATE_IN_DATABASE"}
    return {
        "SchemaChangePolicy": policy,
        "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVERYTHING"},
        "Classifiers": [],
        VERSION: 1,
        **entity.definition,
        "Name": entity.name,
        "State": state,
        "CrawlElapsedTime": max(elapsed, 0),
        "CreationTime": entity.created_at_ms,
        "LastUpdated": entity.changed_at_ms,
        "LastCrawl": _last_crawl(ended) if ended else None,
    }


def _last_crawl(run: JobRun) -> Answer:
    return {**_log_of(run), "Status": crawl_state(run.state)}


def _of_history(run: JobRun) -> Answer:
    state = HISTORY.get(run.state, "FAILED") if run.state in FINAL_STATES else RUNNING
    return {**_log_of(run), "CrawlId": run.run_id, "State": state, "EndTime": run.completed_at_ms}


def _log_of(run: JobRun) -> Answer:
    return {
        "StartTime": run.started_at_ms,
        "ErrorMessage": run.error_message,
        "LogGroup": LOG_GROUP,
        "LogStream": run.run_id,
        "MessagePrefix": run.run_id,
    }


def _metrics(glue: GlueState, entity: Entity) -> Answer:
    crawls = _crawls(glue, entity)
    seconds = [
        (run.completed_at_ms - run.started_at_ms) / MS_PER_S
        for run in crawls
        if run.completed_at_ms is not None
    ]
    return {
        "CrawlerName": entity.name,
        "TimeLeftSeconds": 0.0,
        "StillEstimating": _state(glue, entity)[0] != READY,
        "LastRuntimeSeconds": seconds[0] if seconds else 0.0,
        "MedianRuntimeSeconds": median(seconds) if seconds else 0.0,
    }
