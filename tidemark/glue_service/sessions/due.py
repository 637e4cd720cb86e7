"""Ends sessions: those that are idle for too long, and those that do not cancel a statement."""

from tidemark.glue_job.session.statement_files import ENDED_STATES, ERROR, WAITING
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.runs.active import ActiveRun
from tidemark.glue_service.sessions.session_runs import FAILED, TIMEOUT, files_of, record_of
from tidemark.model.messages import plural

MS_PER_MINUTE = 60_000


def end_due_sessions(glue: GlueState) -> None:
    """End the sessions whose time has come."""
    now_ms = glue.now_ms()
    _end_those_that_did_not(glue, now_ms)
    _end_idle(glue, now_ms)


def _end_those_that_did_not(glue: GlueState, now_ms: int) -> None:
    times = glue.sessions
    for (run_id, number), end_ms in list(times.to_end.items()):
        run = glue.store.job_run(run_id)
        state = record_of(run, number)["State"] if run else ERROR
        if state in ENDED_STATES:
            del times.to_end[run_id, number]
        elif now_ms >= end_ms and state != WAITING:
            del times.to_end[run_id, number]
            why = f"statement {number} did not end when it was cancelled, and its session was ended"
            glue.runner.stop(run_id, FAILED, why)
    for run_id, end_ms in list(times.to_stop.items()):
        if now_ms >= end_ms:
            del times.to_stop[run_id]
            glue.runner.stop(run_id)  # which does nothing to a run that has ended


def _end_idle(glue: GlueState, now_ms: int) -> None:
    times = glue.sessions
    for session in glue.runner.sessions:
        run_id, minutes = session.run.run_id, session.start.idle_minutes or 0
        if now_ms < times.idle_at.get(run_id, 0):
            continue
        idle_at = times.idle_at[run_id] = _idle_since(session, now_ms) + minutes * MS_PER_MINUTE
        if now_ms >= idle_at:
            times.idle_at[run_id] = now_ms + MS_PER_MINUTE  # it takes seconds to end
            glue.runner.stop(run_id, TIMEOUT, f"Session idle for {plural(minutes, 'minute')}")


def _idle_since(session: ActiveRun, now_ms: int) -> int:
    """Return when a session ended its last statement, or began; now, if it is at work."""
    files = files_of(session.run)
    numbers = files.numbers()
    if not numbers:
        return files.activity() or session.run.started_at_ms
    record = files.record(numbers[-1])
    return int(record.get("CompletedOn", now_ms)) if record["State"] in ENDED_STATES else now_ms
