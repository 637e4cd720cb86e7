"""A report that nobody's runs made: every state, names that look like HTML, what is open."""

from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten
from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.commits import PipelineRun
from tidemark.report.model import Gap, OpenWindow, Report, Warned

NOW_MS = 1_769_760_000_000  # 2026-01-30 08:00 UTC
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
STATES = ("SUCCEEDED", "FAILED", "STOPPED", "RUNNING", "TIMEOUT", "WAITING", "ERROR")
NASTY = """<script>alert("1")</script> & 'x' \\N {{7*7}} ünï \N{SNOWMAN}"""


def job(name: str, reads: tuple[str, ...], target: str, after: tuple[str, ...] = ()) -> PipelineJob:
    return PipelineJob(
        name, workflow="shop", after=after, reads=reads, writes=(target,), worker_type="G.1X", dpu=2
    )


def report() -> Report:
    landing, raw = "s3://shop-landing/orders/", "s3://shop-raw/orders/"
    curated, mart = "s3://shop-curated/orders/", "s3://shop-mart/sales/"
    jobs = [
        job("ingest-orders", (landing,), raw),
        job("curate-orders", (raw,), curated, ("ingest-orders",)),
        job("publish-sales", (curated,), mart, ("curate-orders",)),
        job("never-started", (curated,), "s3://shop-mart/unused/", ("curate-orders",)),
        *(
            job(f"ends-{state.lower()}", (curated,), f"s3://shop-mart/{state}/", ("curate-orders",))
            for state in STATES[1:]
        ),
        job(NASTY, (curated,), f"s3://shop-mart/{NASTY}/"),
        job("long-" * 51, (curated,), f"s3://shop-mart/{'long' * 200}/"),
    ]
    runs = [
        run
        for number, one in enumerate(jobs)
        if one.name != "never-started"
        for run in runs_of(one.name, number)
    ]
    return Report(
        where=f"this machine, /home/{NASTY}",
        made_at_ms=NOW_MS,
        jobs=tuple(jobs),
        runs=tuple(sorted(runs, key=lambda run: run.started_at_ms)),
        checkpoints=(
            Checkpoint(
                "publish-sales",
                "jr_2_2",
                NOW_MS - HOUR_MS,
                read=(DatasetRead(curated, rows=777),),
                written=(DatasetWritten(mart, rows=55),),
            ),
        ),
        windows=(OpenWindow("ingest-orders", "", "updated_at", "2026-01-29", NASTY, "jr_0_2"),),
        warnings=(Warned("curate-orders", "jr_1_2", NOW_MS - HOUR_MS, NASTY),),
        gaps=(Gap("publish-sales", "2026-01-12", "2026-01-13", "missing"),),
        unknown=("Nobody knows the rest.",),
    )


def runs_of(name: str, number: int) -> list[PipelineRun]:
    state = name.removeprefix("ends-").upper() if name.startswith("ends-") else "SUCCEEDED"
    found = []
    for day in range(3):
        start = NOW_MS - (2 - day) * 24 * HOUR_MS - 2 * HOUR_MS + number * 4 * MINUTE_MS
        of_run = state if day == 2 else "SUCCEEDED"
        is_open = of_run in ("RUNNING", "WAITING")
        end = None if is_open else start + (3 + number) * MINUTE_MS
        found.append(
            PipelineRun(
                job=name,
                run_id=f"jr_{number}_{day}",
                state=of_run,
                started_at_ms=start,
                ended_at_ms=end,
                message="" if of_run in ("SUCCEEDED", "RUNNING", "WAITING") else NASTY,
                rows_read=None if name == "publish-sales" else 1000 * (day + 1),
                rows_written=None if name == "publish-sales" else 900 * (day + 1),
                dpu_seconds=None if is_open else (3 + number) * 120.0,
                is_estimate=True,
            )
        )
    return found


def shop(jobs: int = 5, runs: int = 30) -> Report:
    """Return a report of a pipeline as people have them; what orders feeds waits for a failed run.

    More jobs are branches of it.
    """
    found = [
        job("ingest-orders", ("s3://shop-landing/orders/",), "s3://shop-raw/orders/"),
        job("ingest-stock", ("s3://shop-landing/stock/",), "s3://shop-raw/stock/"),
        job("curate-orders", ("s3://shop-raw/orders/",), "s3://shop-curated/orders/"),
        job("stock-levels", ("s3://shop-raw/stock/",), "s3://shop-mart/stock/"),
        job("publish-sales", ("s3://shop-curated/orders/",), "s3://shop-mart/sales/"),
    ]
    for number in range(len(found), jobs):
        found.append(job(f"branch-{number}", found[number - 3].writes, f"s3://shop-mart/{number}/"))
    done = [
        _run_of_shop(one.name, number, runs - day)
        for number, one in enumerate(found)
        for day in range(runs)
        if day < runs - 1 or one.name not in ("curate-orders", "publish-sales")
    ]
    return Report(
        where="this machine, /home/ann/shop/.tidemark",
        made_at_ms=NOW_MS,
        jobs=tuple(found),
        runs=tuple(sorted(done, key=lambda run: run.started_at_ms)),
        windows=(
            OpenWindow("ingest-orders", "", "updated_at", "2026-01-29", "2026-01-30", "jr_0_1"),
        ),
    )


def _run_of_shop(name: str, number: int, days_ago: int) -> PipelineRun:
    wave = 1 + 0.35 * ((days_ago * 7 + number * 3) % 5 - 2) / 2
    minutes = (4 + number % 4 * 2) * wave
    start = NOW_MS - (days_ago * 24 - 22) * HOUR_MS + number // 2 * 9 * MINUTE_MS
    failed = name == "ingest-orders" and days_ago in (1, 17)
    rows = 0 if failed else round((40_000 + 9_000 * number) * wave)
    message = "An error occurred while calling o94.load. The connection attempt failed."
    return PipelineRun(
        job=name,
        run_id=f"jr_{number}_{days_ago}",
        state="FAILED" if failed else "SUCCEEDED",
        started_at_ms=start,
        ended_at_ms=start + round(minutes * MINUTE_MS),
        message=message if failed else "",
        rows_read=rows,
        rows_written=round(rows * 0.8),
        dpu_seconds=minutes * 120,
        is_estimate=True,
        workflow_run_id=f"wr_{days_ago}",
    )
