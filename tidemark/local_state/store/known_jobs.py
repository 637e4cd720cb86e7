"""The jobs known to a home, and why one has no bookmark or no source."""

from tidemark.local_state.bookmarks.versions import latest_bookmark
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import ENABLE


def known_jobs(store: Store) -> list[str]:
    """Return the names of the jobs that were deployed here, ran here or have a bookmark here."""
    rows = store.query(
        "SELECT job_name FROM deployed_job UNION SELECT job_name FROM job_run "
        "UNION SELECT job_name FROM bookmark ORDER BY job_name"
    )
    return [row["job_name"] for row in rows]


def no_bookmark_reason(store: Store, name: str) -> str:
    """Return why a job has no bookmark, and where it may keep its place instead."""
    last = store.latest_job_run(name)
    if last is None or last.bookmark_option == ENABLE or latest_bookmark(store, name) is not None:
        return f"job {name} has no bookmark: it never committed one"
    return (
        f"job {name} has no bookmark: job bookmarks are not enabled in its runs; if it keeps "
        f"watermarks, see `tidemark watermark show {name}`"
    )


def no_source_reason(store: Store, name: str) -> str:
    """Return why the input of a job's next run is not known."""
    text = f"no run of job {name} has opened a source here, so its input is not known: "
    if store.latest_job_run(name) is None:
        return f"{text}run it once (its first run reads everything)"
    return (
        f"{text}its runs read without awsglue; if it keeps watermarks, `tidemark watermark show "
        f"{name}` shows where the next one continues"
    )
