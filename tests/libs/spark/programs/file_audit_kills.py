# A run that is killed at a step of a window of files with an audit, and the run after it.
# Arguments: the attempt, whether rows hold, the step to die at, or none. Prints what readers see.
import os
import signal

from watermarks import AuditFailedError, Window, read_committed, write_window
from watermarks.spark import files

attempt, are_good, step = json.loads(sys.argv[2])
rows = [(1, 1), (2, 2)] if are_good else [(1, 1), (2, -2)]


def dying(name):
    done = getattr(files, name)

    def call(*given):
        for side in ("before", "after"):
            if f"{side} {name}" == step:
                os.kill(spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
            result = done(*given) if side == "before" else result  # noqa: F821 (set before)
        return result

    setattr(files, name, call)


for name in ("_delete_earlier_attempts", "_audit", "check_audits", "_files_in", "_publish"):
    dying(name)
window = Window("j", f"jr_{attempt}", "c", "w-1", attempt, 1, 2)
frame = spark.createDataFrame(rows, "id INT, n INT")
try:
    write_window(frame, "out", window, audit="n > 0")
except AuditFailedError:
    print(json.dumps("refused"))
else:
    seen = read_committed(spark, "out", [("w-1", attempt)]).select("id", "n").collect()
    folders = {place for place, _, names in os.walk("out") for name in names if "part-" in name}
    print(json.dumps([sorted(map(list, seen)), sorted(folders)]))
