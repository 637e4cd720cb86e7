# Windows into tables of Iceberg: repeated, superseded, in the way of other writers; and windows over
# the snapshots of one. Finds `spark`; prints what it has seen as JSON.
import random
from dataclasses import replace

from watermarks import Window, append_window, merge_window, newest_snapshot, read_snapshots
from watermarks.spark import iceberg_target, snapshots
from watermarks.spark.iceberg_tables import iceberg_table
from watermarks.table.latest import Latest

facts = {"metadata": {}}


def rows(table):
    frame = spark.table(table) if isinstance(table, str) else table
    return sorted([list(row) for row in frame.collect()], key=str)


def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def refused(case, call, table="s.src"):
    """Note how a call is refused, and the metadata from which that can be told without Iceberg."""
    facts[case] = error_of(call)
    java = newest_snapshot(spark, table).table.java
    place = java.operations().current().metadataFileLocation().removeprefix("file:")
    with open(place) as file:
        facts["metadata"][case] = [json.load(file), low]


def window(number, attempt=None, **others):
    one = Window("j", f"jr_{number}", "at", f"{number:010d}-ab", attempt or number, None, 99)
    return replace(one, **others)


def orders(*values):
    return spark.createDataFrame(values, "id INT, name STRING, at BIGINT, op STRING")


def rows_of(*values):
    return orders(*values).drop("op")


# Appends
spark.sql("CREATE TABLE s.log (id INT) USING iceberg")
one = spark.range(3).selectExpr("CAST(id AS INT) AS id")
facts["first append"] = append_window(one, "lake.s.log", window(1))
facts["again by this run"] = error_of(lambda: append_window(one, "s.log", window(1)))
facts["again by the next run"] = append_window(one, "s.log", window(1, attempt=2))
again = iceberg_target.IcebergTarget(iceberg_table(spark, "s.log"), window(1, attempt=2))
spark.sql(f"ALTER TABLE s.log CREATE BRANCH `{again._new_branch()}`")
facts["again after that"] = append_window(one, "s.log", window(1, attempt=3))
facts["branches of earlier attempts"] = [row.name for row in spark.table("lake.s.log.refs").collect()]
facts["another part"] = append_window(one, "s.log", window(1, attempt=2), part="b")
facts["a later window"] = append_window(one, "s.log", window(3))
facts["superseded append"] = error_of(lambda: append_window(one, "s.log", window(2)))
unset = facts["superseded append"].partition(" run ALTER")[2]
spark.sql("CREATE TABLE s.restored (id INT) USING iceberg")
append_window(one, "s.restored", window(3))
spark.sql(f"ALTER{unset}".replace("`log`", "`restored`"))
facts["after the note was unset"] = append_window(one, "s.restored", window(2))
facts["of another job"] = append_window(one, "s.log", window(1, job_id="other"))
facts["of a backfill"] = append_window(one, "s.log", window(1, window_id="backfill-may-t-1"))
facts["appended"] = spark.table("s.log").count()
summaries = spark.table("lake.s.log.snapshots").orderBy("committed_at").collect()
facts["lane"] = iceberg_target.IcebergTarget(
    iceberg_table(spark, "s.log"), window(1, window_id="backfill-may-t-1")
)._lane
facts["summary"] = {k: v for k, v in summaries[-1].summary.items() if k.startswith("tidemark")}

# A window is merged into a table and appended to it.
spark.sql("CREATE TABLE s.both (id INT, at BIGINT) USING iceberg")
both = spark.sql("SELECT 1 AS id, 5L AS at")
merge_window(both, "s.both", window(1), ["id"])
facts["append after a merge"] = append_window(both, "s.both", window(1))
facts["append after a merge, again"] = append_window(both, "s.both", window(1, attempt=2))
facts["both"] = spark.table("s.both").count()
facts["no column for deleted rows"] = error_of(
    lambda: merge_window(
        both, "s.both", window(2), ["id"], deleted="id = 1", keep_deleted="is_deleted"
    )
)

# A window whose snapshot is not in the table any more is written again.
spark.sql("CREATE TABLE s.back (id INT) USING iceberg")
spark.sql("INSERT INTO s.back VALUES (9)")
(base,) = spark.table("lake.s.back.snapshots").collect()


def expire(table):
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    )


append_window(one, "s.back", window(1))
spark.sql(f"CALL lake.system.rollback_to_snapshot('s.back', {base.snapshot_id})")
facts["after a rollback"] = append_window(one, "s.back", window(1, attempt=2))
spark.sql("INSERT INTO s.back VALUES (9)")
expire("s.back")
facts["after expiry"] = append_window(one, "s.back", window(1, attempt=3))
append_window(one, "s.back", window(4))
left = spark.table("lake.s.back.snapshots").orderBy("committed_at").first()
spark.sql(f"CALL lake.system.rollback_to_snapshot('s.back', {left.snapshot_id})")
expire("s.back")
facts["after a rollback and expiry"] = append_window(one, "s.back", window(4, attempt=5))
spark.sql("CREATE OR REPLACE TABLE s.back (id INT) USING iceberg")
facts["after a replacement"] = append_window(one, "s.back", window(4, attempt=6))
spark.sql("CREATE OR REPLACE TABLE s.back USING iceberg AS SELECT 9 AS id")
facts["after another replacement"] = append_window(one, "s.back", window(4, attempt=7))
facts["back"] = spark.table("s.back").count()

# So is one whose snapshot was rolled back and has expired, unless nothing tells of that any more.
spark.sql("CREATE TABLE s.gone (id INT) USING iceberg")
spark.sql("INSERT INTO s.gone VALUES (9)")
(base,) = spark.table("lake.s.gone.snapshots").collect()


def roll_back_and_expire():
    spark.sql(f"CALL lake.system.rollback_to_snapshot('s.gone', {base.snapshot_id})")
    spark.sql("INSERT INTO s.gone VALUES (9)")
    expire("s.gone")


append_window(one, "s.gone", window(1))
roll_back_and_expire()
facts["after a rollback, another append and expiry"] = append_window(
    one, "s.gone", window(1, attempt=2)
)
for _ in range(2):
    spark.sql("INSERT INTO s.gone VALUES (9)")
expire("s.gone")
facts["after other appends and expiry"] = append_window(one, "s.gone", window(1, attempt=3))
facts["gone"] = spark.table("s.gone").where("id < 9").count()
committed = Latest("jr_1", 1, {"at": 99}, committed={window(1).window_id: {}})
(base,) = spark.table("lake.s.gone.snapshots").collect()
append_window(one, "s.gone", window(4, base=committed))
committed = replace(committed, committed={window(4).window_id: {}})
spark.sql(f"CALL lake.system.rollback_to_snapshot('s.gone', {base.snapshot_id})")
facts["after the last window was rolled back"] = error_of(
    lambda: append_window(one, "s.gone", window(5, base=committed))
)
spark.sql(f"ALTER{facts['after the last window was rolled back'].partition('run ALTER')[2]}")
facts["without the window that was rolled back"] = append_window(
    one, "s.gone", window(5, base=committed)
)
spark.sql("ALTER TABLE s.gone SET TBLPROPERTIES ('write.metadata.previous-versions-max' = '1')")
for _ in range(2):
    spark.sql("INSERT INTO s.gone VALUES (9)")
expire("s.gone")
spark.sql("INSERT INTO s.gone VALUES (9)")
facts["not known"] = error_of(lambda: append_window(one, "s.gone", window(5, attempt=6)))
written, accepted = (
    f"ALTER TABLE{text.partition(' and the job')[0]}"
    for text in facts["not known"].split("ALTER TABLE")[1:]
)
spark.sql(accepted)
facts["accepted as written"] = append_window(one, "s.gone", window(5, attempt=6))
spark.sql(written)
facts["written by name"] = append_window(one, "s.gone", window(5, attempt=7))

# Columns that were added, moved, renamed and dropped since the job was written
spark.sql("CREATE TABLE s.col (id INT, name STRING, p STRUCT<x: INT>) USING iceberg")
values = "1 AS {}, 'a' AS name, named_struct('x', 1) AS p"
wide = spark.sql(f"SELECT {values.format('ID')}")
append_window(wide.select("p", "name", "id"), "s.col", window(1))
for number, change in enumerate(("ADD COLUMN price INT FIRST", "ADD COLUMN p.z INT"), 2):
    spark.sql(f"ALTER TABLE s.col {change}")
    append_window(wide, "s.col", window(number))
facts["columns"] = rows("s.col")
spark.sql("ALTER TABLE s.col RENAME COLUMN name TO title")
refusals = {
    "renamed": wide,
    "added in a struct": wide.selectExpr("id", "name AS title", "named_struct('x', 1, 'y', 2) AS p"),
    "not given": wide.drop("name"),
    "twice": wide.selectExpr("*", "1 AS Id"),
}
for name, frame in refusals.items():
    facts[f"a column {name}"] = error_of(lambda frame=frame: append_window(frame, "s.col", window(4)))
spark.sql("ALTER TABLE s.col DROP COLUMN title")
facts["a column dropped"] = error_of(lambda: append_window(wide, "s.col", window(4)))
facts["without the dropped one"] = append_window(wide.drop("name"), "s.col", window(4))

# An attempt that a later one has superseded before either has written
slow = iceberg_target.IcebergTarget(iceberg_table(spark, "s.col"), window(6))
fast = iceberg_target.IcebergTarget(iceberg_table(spark, "s.col"), window(6, attempt=7))


def overtaken(branch):
    fast._is_made(fast._new_branch(), fast.table.java.currentSnapshot())
    wide.drop("name").selectExpr("1 AS price", "id", "p").writeTo(branch).append()


facts["superseded by one that writes"] = error_of(lambda: slow.write(overtaken, is_repeatable=True))

# Names of parts of a table, and writes that are staged
spark.sql("ALTER TABLE s.back CREATE BRANCH audit")
for name in ("branch_audit", "snapshots"):
    facts[name] = error_of(lambda name=name: append_window(one, f"lake.s.back.{name}", window(8)))
    facts[f"read {name}"] = error_of(lambda name=name: newest_snapshot(spark, f"s.back.{name}"))
spark.sql("CREATE TABLE s.branch_a (id INT) USING iceberg")
facts["named as a branch"] = append_window(one, "s.branch_a", window(1))
spark.sql("ALTER TABLE s.branch_a SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
for name in ("spark.wap.id", "spark.wap.branch"):
    spark.conf.set(name, "audit")
    facts[name] = error_of(lambda: append_window(one, "s.branch_a", window(2)))
    spark.conf.unset(name)
facts["not staged"] = append_window(one, "s.branch_a", window(2))

# Schema and partitions evolve between windows; files are compacted, snapshots expire
spark.sql("CREATE TABLE s.ev (id INT, name STRING, at BIGINT, old INT) USING iceberg")
first = orders((1, "a", 10, "I"), (2, "b", 10, "I"))
merge_window(first.withColumn("old", first.id).drop("op"), "s.ev", window(1), ["id"])
for change in (
    "ADD COLUMN price INT",
    "ALTER COLUMN id TYPE BIGINT",
    "RENAME COLUMN name TO title",
    "DROP COLUMN old",
    "ADD PARTITION FIELD bucket(2, id)",
):
    spark.sql(f"ALTER TABLE s.ev {change}")
spark.sql("CALL lake.system.rewrite_data_files(table => 's.ev', options => map('rewrite-all', 'true'))")
expire("s.ev")
later = orders((1, "A", 20, "U"), (2, "", 20, "D"), (3, "c", 20, "I"))
later = later.selectExpr("id + 0L AS id", "name AS title", "at", "op", "id * 2 AS price")
merge_window(later, "s.ev", window(2), ["id"], deleted="op = 'D'")
facts["evolved"] = rows("s.ev")
spark.sql("ALTER TABLE s.ev ADD COLUMN later INT")
spark.sql("ALTER TABLE s.ev ADD COLUMN p STRUCT<x: INT>")
spark.sql("UPDATE s.ev SET later = 7 WHERE id = 1")
newer = later.where("id <> 2").selectExpr("AT + 10L * (id - 1) div 2 AS At", "upper(title) AS TITLE", "price", "id")
merge_window(newer.withColumnRenamed("At", "at"), "s.ev", window(3), ["id"])
facts["merged without a later column"] = rows("s.ev")
spark.sql("ALTER TABLE s.ev ADD COLUMN p.z INT")
flat = later.where("id = 1").selectExpr("*", "named_struct('x', 1) AS p").drop("op")
facts["a field that is missing"] = error_of(lambda: merge_window(flat, "s.ev", window(4), ["id"]))
spark.sql("CREATE TABLE s.evh (id INT, since BIGINT, till BIGINT) USING iceberg")
versions = spark.sql("SELECT * FROM VALUES (1, 10L), (2, 10L) AS v (id, at)")
merge_window(versions, "s.evh", window(1), ["id"], history=("since", "till"))
spark.sql("ALTER TABLE s.evh ADD COLUMN note STRING")
spark.sql("UPDATE s.evh SET note = 'kept' WHERE id = 1")
versions = spark.sql("SELECT * FROM VALUES (1, 10L), (1, 20L) AS v (id, at)")
merge_window(versions, "s.evh", window(2), ["id"], history=("since", "till"))
facts["a history without a later column"] = rows("s.evh")

# Another writer commits while the window is written: the window is written again.
spark.sql("CREATE TABLE s.race (id INT, name STRING, at BIGINT) USING iceberg")
spark.sql("INSERT INTO s.race VALUES (1, 'old', 1)")
made, others = iceberg_target.IcebergTarget._is_made, iter([True, False])


def made_before_another(target, branch, base):
    done = made(target, branch, base)
    if next(others, False):
        spark.sql("INSERT INTO s.race VALUES (2, 'other', 2)")
    return done


iceberg_target.IcebergTarget._is_made = made_before_another
merge_window(rows_of((1, "new", 5, "U"), (3, "mine", 5, "I")), "s.race", window(1), ["id"])
iceberg_target.IcebergTarget._is_made = made
facts["beside another writer"] = rows("s.race")
facts["branches left"] = [row.name for row in spark.table("lake.s.race.refs").collect()]

# Someone drops a column while a window is written: the window does not become the table.
published = iceberg_target.IcebergTarget._is_published


def published_after_a_change(*given):
    iceberg_target.IcebergTarget._is_published = published
    spark.sql("ALTER TABLE s.changing DROP COLUMN name")
    return published(*given)


spark.sql("CREATE TABLE s.changing (id INT, name STRING, at BIGINT) USING iceberg")
iceberg_target.IcebergTarget._is_published = published_after_a_change
facts["a column dropped meanwhile"] = error_of(
    lambda: append_window(rows_of((1, "a", 5, "I")), "s.changing", window(1))
)

# A later window commits between the branch and the commit of an earlier one.
others = iter([True])


def made_before_a_later_window(target, branch, base):
    done = made(target, branch, base)
    if next(others, False):
        iceberg_target.IcebergTarget._is_made = made
        merge_window(orders((1, "", 9, "D")), "s.race", window(3), ["id"], deleted="op = 'D'")
    return done


iceberg_target.IcebergTarget._is_made = made_before_a_later_window
facts["overtaken merge"] = error_of(
    lambda: merge_window(rows_of((1, "back", 7, "U")), "s.race", window(2), ["id"])
)
iceberg_target.IcebergTarget._is_made = made
facts["superseded merge"] = error_of(
    lambda: merge_window(rows_of((1, "back", 7, "U")), "s.race", window(2), ["id"])
)
merge_window(rows_of((4, "x", 10, "I")), "s.race", window(3, attempt=4), ["id"])
facts["after a later window"] = rows("s.race")
facts["a column that is wrong"] = error_of(
    lambda: merge_window(orders((4, "x", 10, "I")), "s.race", window(5), ["id"], deleted="nope = 1")
)
facts["a cursor that the table lacks"] = error_of(
    lambda: merge_window(rows_of((4, "x", 10, "I")).drop("name"), "s.log", window(5), ["id"])
)
facts["a column that the table lacks"] = error_of(
    lambda: merge_window(orders((4, "x", 10, "I")), "s.race", window(5), ["id"])
)
facts["appended with a column that the table lacks"] = error_of(
    lambda: append_window(orders((4, "x", 10, "I")), "s.race", window(5))
)
spark.sql("ALTER TABLE s.race SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
facts["appended to a table of any schema"] = error_of(
    lambda: append_window(orders((4, "x", 10, "I")), "s.race", window(5))
)
spark.sql("ALTER TABLE s.race UNSET TBLPROPERTIES ('write.spark.accept-any-schema')")
facts["branches after an error"] = [row.name for row in spark.table("lake.s.race.refs").collect()]

# A window that no table of watermarks keeps is merged, and noted nowhere.
spark.sql("CREATE TABLE s.whole (id INT, name STRING, at BIGINT) USING iceberg")
merge_window(rows_of((1, "a", 5, "I"), (2, "b", 5, "I")), "s.whole", window(7), ["id"])
notes = spark.sql("SHOW TBLPROPERTIES s.whole").collect()
whole = window(0, window_id="disabled-ab", job_bookmark_option="job-bookmark-disable")
for _ in range(2):
    merge_window(rows_of((1, "old", 4, "I"), (3, "c", 9, "I")), "s.whole", whole, ["id"])
facts["whole"] = rows("s.whole")
facts["whole leaves the notes"] = [
    row for row in spark.sql("SHOW TBLPROPERTIES s.whole").collect()
    if row.key.startswith("tidemark")
] == [row for row in notes if row.key.startswith("tidemark")]

# A history of changes, in any order of its windows, ends in the same table.
changes = [(1, "a", 10, "I"), (1, "b", 20, "U"), (1, "", 30, "D"), (1, "c", 40, "I")]
changes += [(2, "y", 15, "I"), (2, "", 18, "D"), (3, "q", 5, "I")]
facts["kept"], facts["history"] = [], []
for seed in range(json.loads(sys.argv[2])):
    random.Random(seed).shuffle(changes)
    spark.sql(
        f"CREATE TABLE s.k{seed} (id INT, name STRING, at BIGINT, gone BOOLEAN) USING iceberg"
    )
    spark.sql(
        f"CREATE TABLE s.h{seed} (id INT, name STRING, since BIGINT, till BIGINT) USING iceberg"
    )
    for number, part in enumerate((changes[:3], changes[3:]), 1):
        one = {"deleted": "op = 'D'", "keys": ["id"], "window": window(number)}
        merge_window(orders(*part), f"s.k{seed}", keep_deleted="gone", **one)
        merge_window(orders(*part), f"s.h{seed}", history=("since", "till"), **one)
    facts["kept"].append(rows(spark.table(f"s.k{seed}").where("NOT gone")))
    facts["history"].append(rows(f"s.h{seed}"))

# Windows over snapshots
spark.sql("CREATE TABLE s.src (id INT, name STRING) USING iceberg")
low, numbers = None, iter(range(1, 99))


def following(max_rows=None):
    bound = newest_snapshot(spark, "lake.s.src")
    high = bound.newest("snapshot", low, "raise")
    if max_rows:
        high = bound.after_rows("snapshot", low, False, max_rows) or high
    if high in (None, low):
        return None
    one = window(next(numbers), cursor="snapshot", low=low, high=high)
    return one


def read(move=True, max_rows=None, **options):
    global low
    one = following(max_rows)
    if one is None:
        return []
    found = rows(read_snapshots(spark, "lake.s.src", one, **options))
    low = one.high if move else low
    return found


facts["empty table"] = read()
spark.sql("INSERT INTO s.src VALUES (1, 'a'), (2, 'b')")
facts["first read"] = read()
facts["nothing new"] = read()
spark.sql("INSERT INTO s.src VALUES (3, 'c')")
spark.sql("INSERT INTO s.src VALUES (4, 'd')")
facts["read, not committed"] = read(move=False)
facts["one snapshot"] = read(max_rows=1)
facts["the other"] = read()
spark.sql("CALL lake.system.rewrite_data_files(table => 's.src', options => map('rewrite-all', 'true'))")
spark.sql("INSERT INTO s.src VALUES (5, 'e')")
facts["after a compaction"] = read()
spark.sql("ALTER TABLE s.src ADD COLUMN price INT")
spark.sql("ALTER TABLE s.src RENAME COLUMN name TO title")
spark.sql("ALTER TABLE s.src ADD PARTITION FIELD bucket(2, id)")
spark.sql("INSERT INTO s.src VALUES (6, 'f', 1)")
facts["after an evolution"] = read()
spark.sql("ALTER TABLE s.src CREATE BRANCH audit")
spark.sql("INSERT INTO lake.s.src.branch_audit VALUES (99, 'z', 1)")
facts["written to a branch"] = read()
spark.sql("DELETE FROM s.src WHERE id = 1")
spark.sql("UPDATE s.src SET title = 'B' WHERE id = 2")
refused("appends of changes", read)
facts["unread rows"] = [
    [one.operation(), one.summary().get("added-records"), one.summary().get("deleted-records")]
    for one in snapshots._between(
        newest_snapshot(spark, "s.src").table, snapshots.Snapshot.of(low), None
    )
]
facts["changes"] = read(move=False, read="changes")
facts["changes by key"] = read(read="changes", keys=["id"])
before = low
spark.sql("INSERT INTO s.src VALUES (7, 'g', 1)")
read()
spark.sql(f"CALL lake.system.rollback_to_snapshot('s.src', {before.split('/')[1]})")
refused("rolled back", read)
low = before
spark.sql("INSERT INTO s.src VALUES (8, 'h', 1)")
spark.sql(
    "CALL lake.system.expire_snapshots(table => 's.src', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
)
refused("expired", read)
spark.sql("INSERT INTO s.src VALUES (9, 'i', 1)")
read_to = newest_snapshot(spark, "s.src").newest("snapshot", None, "raise")
spark.sql("INSERT INTO s.src VALUES (10, 'j', 1)")
low = newest_snapshot(spark, "s.src").newest("snapshot", None, "raise")
spark.sql(f"CALL lake.system.rollback_to_snapshot('s.src', {read_to.split('/')[1]})")
refused("rolled back after others expired", read)
low = read_to
spark.sql("ALTER TABLE s.src CREATE TAG kept")
spark.sql("INSERT INTO s.src VALUES (11, 'k', 1)")
spark.sql("INSERT INTO s.src VALUES (12, 'l', 1)")
spark.sql(
    "CALL lake.system.expire_snapshots(table => 's.src', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
)
refused("expired after a tag", read)
low = newest_snapshot(spark, "s.src").newest("snapshot", None, "raise")
spark.sql("CREATE OR REPLACE TABLE s.src USING iceberg AS SELECT 1 AS id")
refused("replaced in place", read)
spark.sql("CREATE OR REPLACE TABLE s.src (id INT) USING iceberg")
refused("replaced by nothing", read)
spark.sql("DROP TABLE s.src PURGE")
spark.sql("CREATE TABLE s.src (id INT) USING iceberg")
refused("replaced", read)
low = None
spark.sql("CREATE TABLE s.old (id INT) USING iceberg TBLPROPERTIES ('format-version' = '1')")
spark.sql("INSERT INTO s.old VALUES (1)")
refused(
    "version 1", lambda: newest_snapshot(spark, "s.old").newest("snapshot", None, "raise"), "s.old"
)
spark.sql("INSERT INTO s.old VALUES (2)")
spark.sql("ALTER TABLE s.old SET TBLPROPERTIES ('format-version' = '2')")
old = newest_snapshot(spark, "s.old")
low = old.newest("snapshot", None, "raise")
first = window(1, cursor="snapshot", low=None, high=old.after_rows("snapshot", None, False, 1))
facts["after version 1"] = rows(read_snapshots(spark, "s.old", first))
spark.sql("INSERT INTO s.old VALUES (3)")
later = window(1, cursor="snapshot", low=low, high=old.newest("snapshot", low, "raise"))
facts["later than version 1"] = rows(read_snapshots(spark, "s.old", later))

# Values that Spark does not compare
spark.sql(
    "CREATE TABLE s.maps (id INT, m MAP<STRING, INT>, n STRUCT<a: ARRAY<MAP<INT, INT>>>) USING iceberg"
)
nested = "named_struct('a', array(map(1, 2)))"
spark.sql(
    f"INSERT INTO s.maps VALUES (1, map('a', 1, 'b', 2), {nested}), (2, map('b', 1), NULL), (3, NULL, NULL)"
)
low = newest_snapshot(spark, "s.maps").newest("snapshot", None, "raise")
spark.sql("UPDATE s.maps SET m = map('b', 2, 'a', 1) WHERE id = 1")
spark.sql("UPDATE s.maps SET m = map('b', 3) WHERE id = 2")
spark.sql("DELETE FROM s.maps WHERE id = 3")
high = newest_snapshot(spark, "s.maps").newest("snapshot", low, "raise")
one = window(1, cursor="snapshot", low=low, high=high)
facts["changes of maps"] = rows(read_snapshots(spark, "s.maps", one, read="changes", keys=["id"]))
spark.sql("CREATE TABLE s.named USING iceberg AS SELECT 1 AS id, 'x' AS _change_type")
named = newest_snapshot(spark, "s.named").newest("snapshot", None, "raise")
one = window(1, cursor="snapshot", low=None, high=named)
facts["a column as that of changes"] = error_of(
    lambda: read_snapshots(spark, "s.named", one, read="changes")
)
facts["no cursor of snapshots"] = error_of(
    lambda: read_snapshots(spark, "s.src", window(1, cursor="snapshot", high=7))
)
print(json.dumps(facts))
