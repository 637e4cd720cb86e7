"""The work of a local Glue without requests: load its state, and do what is due."""

from tidemark.errors import DamagedDatabaseError, DiskFullError, TidemarkError, UsageError
from tidemark.glue_service.entities import Kind, list_entities
from tidemark.glue_service.eventbridge.bus import deliver, flush
from tidemark.glue_service.eventbridge.documents import run_status
from tidemark.glue_service.glue_state import GlueState, origin_of, topic_arn
from tidemark.glue_service.workflows.batch_firing import fire_batch
from tidemark.glue_service.workflows.firing import fire_by_clock
from tidemark.local_state.machine.disk import full_disk_line

LOOK_S = 0.2
RETRY_S = 1.0


def step(glue: GlueState) -> None:
    """Do what is due: triggers by the clock, batches of events, job runs, and late ones.

    What cannot be stored, such as on a full disk, stays due: a later step does it.
    """
    before, glue.runner.problem = glue.runner.problem, None
    try:
        _do_what_is_due(glue)
    except (DamagedDatabaseError, UsageError):
        raise
    except TidemarkError as error:
        glue.runner.problem = error
    if (problem := glue.runner.problem) is not None and before is None:
        glue.say(f"the local Glue waits, and continues by itself: {_fact(glue, problem)}")
    elif before is not None and problem is None:
        glue.say("the local Glue continues")


def _fact(glue: GlueState, problem: TidemarkError) -> str:
    is_full = isinstance(problem, DiskFullError)
    return full_disk_line(glue.machine.home.root) if is_full else str(problem)


def _do_what_is_due(glue: GlueState) -> None:
    flush(glue)
    now_ms = glue.now_ms()
    if not glue.is_of_command:
        for name in glue.schedules.due(now_ms):
            fire_by_clock(glue, name)
        for name in glue.batches.due(now_ms):
            fire_batch(glue, name)
    glue.runner.step()
    for run, delay_minutes in glue.delays.late(glue.runner.delayed, now_ms):
        deliver(glue, run_status(run, delay_minutes, now_ms, origin_of(glue)))


def wait_s(glue: GlueState) -> float | None:
    """Return how long to wait for an event before the next step; None until one comes.

    The clock is checked every 0.2 s, because clocks are set and machines sleep: for schedules,
    batches, delays, timeouts. So are the logs of runs, whose lines get the time of the check.
    """
    if glue.runner.problem is not None or glue.deliveries:
        return RETRY_S
    if glue.runner.is_due:
        return 0
    has_clock = not glue.is_of_command and (glue.schedules.has_any or glue.batches.has_any)
    return LOOK_S if has_clock or glue.runner.is_busy or glue.runner.delayed else None


def load(glue: GlueState) -> None:
    """Load what is not in the store itself: schedules, rules, waiting events, topics."""
    glue.schedules.load(glue.store, glue.now_ms())
    glue.rules.load(glue.store)
    glue.batches.load(glue.store)
    if glue.topics is not None:
        names = [entity.name for entity in list_entities(glue.store, Kind.TOPIC)]
        glue.topics.expect(topic_arn(glue, name) for name in names)
