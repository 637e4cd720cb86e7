# Merges into tables of Iceberg under a contract. Finds `spark`; prints what it has seen as JSON.
from watermarks import merge_window, read_committed
from watermarks.schema import Contract


def merge(columns, table, number, **options):
    rows = " UNION ALL ".join(f"SELECT {row}" for row in columns.split(" | "))
    merge_window(spark.sql(rows), table, window(number), ["id"], **options)


facts = {}
spark.sql("CREATE TABLE s.now (id BIGINT, at INT, v INT) USING iceberg")
merge("1L id, 1 at, 10 v", "s.now", 1, schema=Contract())
for _ in range(2):  # a repetition changes nothing
    merge("1L id, 2 at, 20000000000 v, 0.5D tip | 2L, 2, 1, 1D", "s.now", 2, schema=Contract())
merge("1L id, 3 at, 30 v", "s.now", 3, schema=Contract())  # without the tip, which stays
facts["evolved"] = shown("s.now")

rescue = Contract(columns="rescue", types="rescue")
gone = "op = 'D'"
merge("1L id, 4 at, 'n/a' v, 'U' op | 2L, 4, '7', 'D'", "s.now", 4, schema=rescue, deleted=gone)
facts["rescued"] = shown("s.now")
facts["key"] = error_of(lambda: merge("'x' id, 5 at, 1 v", "s.now", 5, schema=rescue))
facts["cursor"] = error_of(lambda: merge("1L id, 'x' at, 1 v", "s.now", 5, schema=rescue))
frozen = Contract("id BIGINT, at INT, v BIGINT", columns="freeze", types="freeze")
merge("5L id, 5 at, 1 v, 'U' op", "s.now", 5, schema=frozen, deleted=gone)
facts["frozen"] = error_of(lambda: merge("6L id, 6 at, 1 v, 1 w", "s.now", 6, schema=frozen))
no_key = Contract("at INT, v BIGINT", columns="discard")
facts["no key"] = error_of(lambda: merge("6L id, 6 at, 1 v", "s.now", 6, schema=no_key))
facts["after"] = shown("s.now")[1]

aside = Contract(types="discard_row", quarantine="aside")
rows = "'x' id, 7 at, 1 v, 'U' op | '8', 7, 2, 'U' | '5', 7, 2, 'D'"
merge(rows, "s.now", 7, schema=aside, deleted=gone)
facts["kept"] = sorted(row["id"] for row in spark.table("s.now").collect())
taken = read_committed(spark, "aside", [(window(7).window_id, 7)], "json").collect()
facts["aside"] = [row.asDict() for row in taken]

spark.sql("CREATE TABLE s.all (id BIGINT, v INT, since INT, until INT) USING iceberg")
history = {"history": ("since", "until"), "deleted": gone}
strict = Contract(columns="evolve", types="freeze", missing="freeze")
merge("1L id, 1 at, 10 v, 'U' op", "s.all", 1, schema=strict, **history)
merge("1L id, 2 at, 20 v, 'U' op, 'a' w | 1L, 3, 20, 'D', 'b'", "s.all", 2, schema=strict, **history)
facts["history"] = shown("s.all")
facts["strict"] = error_of(
    lambda: merge("1L id, 4 at, 'U' op", "s.all", 3, schema=strict, **history)
)

spark.sql("CREATE TABLE s.flag (id BIGINT, at INT, v INT, gone BOOLEAN) USING iceberg")
flagged = {"keep_deleted": "gone", "deleted": gone, "schema": rescue}
merge("1L id, 1 at, 1 v, 'U' op | 2L, 1, 1, 'D'", "s.flag", 1, **flagged)
merge("1L id, 2 at, 'x' v, 'D' op", "s.flag", 2, **flagged)
facts["flag"] = shown("s.flag")
merge("1L id, 3 at, 7 v, 'U' op", "s.flag", 3, **{**flagged, "schema": Contract()})
facts["newer"] = shown("s.flag")[1][0]
print(json.dumps(facts))
