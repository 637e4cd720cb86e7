"""The work of a local Glue without requests: load its state, and do what is due."""

from tidemark.glue_service.entities import Kind, list_entities
from tidemark.glue_service.eventbridge.bus import deliver
from tidemark.glue_service.eventbridge.documents import run_status
from tidemark.glue_service.local_glue import LocalGlue, origin_of, topic_arn
from tidemark.glue_service.workflows.batch_firing import fire_batch
from tidemark.glue_service.workflows.firing import fire_by_clock

LOOK_S = 0.2


def step(glue: LocalGlue) -> None:
    """Do what is due: triggers by the clock, batches of events, job runs, and late ones."""
    now_ms = glue.now_ms()
    if not glue.is_of_command:
        for name in glue.schedules.due(now_ms):
            fire_by_clock(glue, name)
        for name in glue.batches.due(now_ms):
            fire_batch(glue, name)
    glue.runner.step()
    for run, delay_minutes in glue.delays.late(glue.runner.delayed, now_ms):
        deliver(glue, run_status(run, delay_minutes, now_ms, origin_of(glue)))


def wait_s(glue: LocalGlue) -> float | None:
    """Return how long to wait for an event before the next step; None until one comes.

    The clock is checked every 0.2 s, because clocks are set and machines sleep: for schedules,
    batches, delays, timeouts. So are the logs of runs, whose lines get the time of the check.
    """
    if glue.runner.is_due:
        return 0
    has_clock = not glue.is_of_command and (glue.schedules.has_any or glue.batches.has_any)
    return LOOK_S if has_clock or glue.runner.is_busy or glue.runner.delayed else None


def load(glue: LocalGlue) -> None:
    """Load what is not in the store itself: schedules, rules, waiting events, topics."""
    glue.schedules.load(glue.store, glue.now_ms())
    glue.rules.load(glue.store)
    glue.batches.load(glue.store)
    if glue.topics is not None:
        names = [entity.name for entity in list_entities(glue.store, Kind.TOPIC)]
        glue.topics.expect(topic_arn(glue, name) for name in names)
