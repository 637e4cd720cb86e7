# Audits of windows into a table of Iceberg: what they see, and what a failed one leaves.
from watermarks import AuditFailedError, Window, append_window, merge_window

spark.sql("CREATE TABLE s.t (id INT, n INT, at BIGINT) USING iceberg")
spark.sql("INSERT INTO s.t VALUES (1, 1, 1)")
told = {}


def rows(*values):
    return spark.createDataFrame(list(values), "id INT, n INT, at BIGINT")


def held():
    return sorted(list(row) for row in spark.table("s.t").collect())


def branches():
    return [row.name for row in spark.table("lake.s.t.refs").collect() if row.name != "main"]


def window(number, attempt):
    return Window("j", f"jr_{attempt}", "at", f"{number:010d}-ab", attempt, None, 99)


def fails(name, write, *given, **options):
    try:
        write(*given, **options)
    except AuditFailedError as error:
        kept = [list(row) for row in spark.table(error.place).collect()] if error.place else None
        told[name] = [str(error), sorted(kept), held(), len(branches())]
    else:
        told[name] = "passed"


# The new state has the rows that were there: the key 1 is twice after an append.
twice = "SELECT id FROM new_state GROUP BY id HAVING count(*) > 1"
fails("append", append_window, rows((1, 2, 2)), "s.t", window(1, 1), audit=twice)
merge_window(rows((1, 2, 2), (2, 5, 2)), "s.t", window(1, 2), ["id"], audit=[twice, "n > 1"])
told["merged"] = [held(), len(branches())]  # that of the append
fails("merge", merge_window, rows((2, -1, 3)), "s.t", window(2, 3), ["id"], audit="n > 0")


def writes(frame):
    (branch,) = [name for name in branches() if "_4_" in name]
    spark.sql(f"INSERT INTO s.t.`branch_{branch}` VALUES (9, 9, 9)")


fails("writer", merge_window, rows((2, 7, 3)), "s.t", window(2, 4), ["id"], audit=writes)


def other_writer(frame):
    if frame.count() == 2:
        spark.sql("INSERT INTO s.t VALUES (3, 3, 3)")  # published again, audited again
    seen.append(frame.count())


seen = []
merge_window(rows((2, 8, 4)), "s.t", window(2, 5), ["id"], audit=other_writer)
told["other writer"] = [seen, held(), len(branches())]
append_window(rows((6, 6, 6)), "s.t", window(1, 6), audit="n > 0")
told["appended"] = [len(held()), branches()]
try:
    merge_window(rows((5, 5, 5)), "s.t", window(1, 1), ["id"], audit="n > 0")
except Exception as error:
    told["superseded"] = type(error).__name__
print(json.dumps(told))
