# Windows into tables of Iceberg under a contract. Finds `spark`; prints what it has seen as JSON.
from watermarks import Window, append_window, merge_window
from watermarks.schema import Contract


def window(number):
    return Window("j", f"jr_{number}", "at", f"{number:010d}-ab", number, None, 99)


def shown(table):
    return [
        spark.table(table).schema.simpleString(),
        sorted(map(list, spark.table(table).collect()), key=str),
    ]


facts = {}
spark.sql("CREATE TABLE s.log (id INT, amt INT) USING iceberg")
append_window(spark.sql("SELECT 1 id, 10 amt"), "s.log", window(1), schema=Contract())
append_window(
    spark.sql("SELECT 2 id, 20000000000 amt, 0.5D tip"), "s.log", window(2), schema=Contract()
)
append_window(spark.sql("SELECT 3 id, 30 amt"), "s.log", window(3), schema=Contract())
facts["evolved"] = shown("s.log")
rescue = Contract(columns="rescue", types="rescue")
append_window(spark.sql("SELECT 4 id, 'n/a' amt, 1 extra"), "s.log", window(4), schema=rescue)
facts["rescued"] = shown("s.log")
try:
    append_window(spark.sql("SELECT 5 id, 1.5D amt"), "s.log", window(5), schema=Contract())
except Exception as error:
    facts["not promoted"] = f"{type(error).__name__}: {error}"
spark.sql("CREATE TABLE s.m (id INT, v INT, at BIGINT) USING iceberg")
changes = "SELECT 1 id, 5 v, 1L at, 'I' op UNION ALL SELECT 2, 6, 1L, 'D'"
for number in (1, 2):
    merge_window(
        spark.sql(changes), "s.m", window(number), ["id"], deleted="op = 'D'", schema=Contract()
    )
merge_window(
    spark.sql("SELECT 1 id, 7 v, 2L at, 'I' op, named_struct('a b', 1) s"),
    "s.m",
    window(3),
    ["id"],
    deleted="op = 'D'",
    schema=Contract(),
)
merge_window(
    spark.sql("SELECT 3 id, 8 v, 3L at, 'I' op, named_struct('a b', 2, 'c', 'x') s"),
    "s.m",
    window(4),
    ["id"],
    deleted="op = 'D'",
    schema=Contract(),
)
facts["merged"] = shown("s.m")
print(json.dumps(facts))
