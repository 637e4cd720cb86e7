# A run that is killed at a step of a window under a contract, or of an acceptance, and the run
# after it. Arguments: the story, and the step to die at, or none. Prints what is there then.
import os
import signal

from watermarks import read_committed
from watermarks.schema import targets
from watermarks.spark import append, iceberg_target
from watermarks.table.client import TableClient

how, step = given


def dies(name):
    if name == step:
        os.kill(spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def around(owner, name, word):
    """Let a step be one to die before or after."""
    does = getattr(owner, name)

    def call(*arguments, **options):
        dies(f"before {word}")
        result = does(*arguments, **options)
        dies(f"after {word}")
        return result

    setattr(owner, name, call)


spark.sql("CREATE TABLE IF NOT EXISTS s.t (id INT, amt INT) USING iceberg")
contract = {
    "evolve": Contract(),
    "freeze": Contract("id INT, amt INT", columns="freeze", types="freeze"),
    "quarantine": Contract("id INT, amt INT", types="discard_row", quarantine="aside"),
}[how]
second = {
    "evolve": "2 id, 20000000000 amt, 0.5D tip",
    "freeze": "2 id, 20 amt, 0.5D tip",
    "quarantine": "explode(array(2, 3)) id, IF(id = 2, '20', 'x') amt, 0.5D tip",
}[how]
count = len(list(watermarks.history(job)))
if not count:
    load(1, "1 id, 1 amt", "s.t", contract, 1)

around(targets, "_evolve", "the change")
around(append, "quarantine", "the quarantine")
around(iceberg_target.IcebergTarget, "_is_published", "the publication")
around(TableClient, "update", "the opening or the note")
around(TableClient, "commit", "the commit")
for run in range(3):
    result = load(f"{os.getpid()}_{run}", second, "s.t", contract, 2)
    if isinstance(result, int):
        break
    around(TableClient, "commit", "the acceptance")
    accept()
facts = {"state": state("s.t"), "kinds": [entry.kind for entry in watermarks.history(job)]}
committed = watermarks.committed_windows(job)
if how == "quarantine":
    kind = "id INT, amt STRING, _rescued_data STRING"
    taken = read_committed(spark, "aside", committed, "json", kind).drop("window", "attempt")
    facts["aside"] = sorted(map(list, taken.collect()))
facts["windows"] = len(committed)
facts["refused"] = watermarks.refused(job) is not None
print(json.dumps(facts))
