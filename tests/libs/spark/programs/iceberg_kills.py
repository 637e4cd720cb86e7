# A run that is killed at a step of a window into a table of Iceberg, and the run after it.
# Arguments: how (append or merge, also with an audit), the attempt, the step to die at, or none.
# Prints the rows.
import os
import signal

from watermarks import Window, append_window, merge_window
from watermarks.spark import iceberg_target

how, attempt, step = json.loads(sys.argv[2])


def dies(name):
    if name == step:
        os.kill(spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


made, published, remove = (
    getattr(iceberg_target.IcebergTarget, name) for name in ("_is_made", "_is_published", "_remove")
)
committed = iceberg_target._is_committed


def make(target, branch, base):
    dies("before the branch")
    done = made(target, branch, base)
    dies("after the branch")
    return done


def publish(*given):
    dies("after the write")
    iceberg_target._is_committed = commit
    return published(*given)


def commit(call):
    dies("before the commit")
    done = committed(call)
    dies("after the commit")
    return done


iceberg_target.IcebergTarget._is_made, iceberg_target.IcebergTarget._is_published = make, publish
spark.sql("CREATE TABLE IF NOT EXISTS s.t (id INT, name STRING, at BIGINT) USING iceberg")
frame = spark.createDataFrame([(1, "a", 5), (2, "b", 6)], "id INT, name STRING, at BIGINT")
window = Window("j", f"jr_{attempt}", "at", "0000000001-ab", attempt, None, 99)
audit = None
if how.startswith("audited"):

    def audit(rows):
        # Readers see nothing yet, unless the first attempt died after all was published.
        assert spark.table("s.t").count() in ((0, 2) if attempt > 1 else (0,))
        dies("in the audit")
        return rows.count() == 2


if how.endswith("append"):
    append_window(frame, "s.t", window, audit=audit)
else:
    merge_window(frame, "s.t", window, ["id"], audit=audit)
found = {
    "rows": sorted(list(row) for row in spark.table("s.t").collect()),
    "refs": [row.name for row in spark.table("lake.s.t.refs").collect()],
}
print(json.dumps(found))
