"""`tidemark status`: last run, bookmark and watermark of each job, and how fresh datasets are."""

from tidemark.cli.progress import (
    console_for_tables,
    print_killed,
    print_output,
    print_refused,
    print_warnings,
)
from tidemark.cli.target import open_target
from tidemark.cli.terminal import print_json
from tidemark.cli.views.status import (
    freshness_listing,
    read_watermarks,
    sessions_line,
    status_json,
    status_table,
)
from tidemark.cli.where import Where
from tidemark.local_state.store.stored_warnings import without_those
from tidemark.model.clock import now_ms
from tidemark.operate.app_jobs import NothingHereError, jobs_of, with_submitted
from tidemark.operate.statuses import jobs_with_input_left_out, statuses_of
from tidemark.report.content import ENDED_WELL, SESSION
from tidemark.report.freshness import FRESHNESS_RUNS
from tidemark.report.gather import freshness_at, read_recorded


def status(where: Where, output: str) -> None:
    # One moment for all ages, before anything is read.
    at_ms = now_ms()
    with open_target(where) as target:
        try:
            jobs = with_submitted(target, jobs_of(target))
        except NothingHereError as nothing:
            print_output(output, [], [str(nothing)])
            return
        recorded = read_recorded(target, jobs, FRESHNESS_RUNS)
        statuses = statuses_of(target, [job.name for job in jobs], recorded.runs)
        watermarks = read_watermarks(target, statuses)
        warnings = target.warnings()
        fresh = freshness_at(jobs, recorded, at_ms, jobs_with_input_left_out(warnings or ()))
        if output == "json":
            shown = [
                status_json(status, watermarks, fresh, at_ms, warnings, has_rows=target.has_rows)
                for status in statuses
            ]
            print_json(shown)
            return
        console = console_for_tables()
        quiet = [
            status
            for status in statuses
            if status.job.startswith(SESSION)
            and status.job in target.submitted
            and status.last_run
            and status.last_run.state in ENDED_WELL
        ]
        shown_alone = [status for status in statuses if status not in quiet]
        console.print(status_table(shown_alone, watermarks, at_ms, has_rows=target.has_rows))
        if quiet:
            console.print(sessions_line(quiet))
        if fresh:
            console.print()
            console.print(freshness_listing(fresh, at_ms))
        if unknown := next(
            (status.unknown for status in statuses if status.unknown and status.has_bookmark), None
        ):
            console.print(f"note: {unknown}")
        for line in target.starts():
            console.print(line)
        last_runs = [status.last_run for status in statuses if status.last_run]
        print_killed(console, last_runs)
        print_refused(console, last_runs)
        names = {job.name for job in jobs}
        own = [warning for warning in warnings or () if warning.job_name in names]
        print_warnings(console, own)
        target.show_unseen(lambda unseen: print_warnings(console, without_those(unseen, own)))
