"""The jobs that were deployed here: one that leaves its stack is deleted, and so is its bookmark.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html (deleting a job)
"""

from collections.abc import Mapping

from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.local_state.store.database import Store


def replace_deployed_jobs(store: Store, stack_of_job: Mapping[str, str]) -> list[str]:
    """Record the jobs of the stacks that are deployed now, and delete those that left them."""
    stacks = set(stack_of_job.values())
    rows = store.query("SELECT job_name, stack_name FROM deployed_job ORDER BY job_name")
    left = [
        row["job_name"]
        for row in rows
        if row["stack_name"] in stacks and row["job_name"] not in stack_of_job
    ]
    with store.transaction():
        for name in left:
            store.query("DELETE FROM deployed_job WHERE job_name = ?", (name,))
        for name, stack in stack_of_job.items():
            store.query("INSERT OR REPLACE INTO deployed_job VALUES (?, ?)", (name, stack))
    return [name for name in left if delete_bookmark(store, name)]
