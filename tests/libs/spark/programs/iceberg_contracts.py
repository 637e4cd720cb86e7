# Windows into tables of Iceberg under a contract. Finds `spark`; prints what it has seen as JSON.
from watermarks import append_window
from watermarks.schema import Contract

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


def append(columns, number, schema, part=""):
    append_window(spark.sql(f"SELECT {columns}"), "s.log", window(number), part=part, schema=schema)


text = Contract("id INT, amt STRING, twice INT", rescued="other")
facts["of text"] = error_of(lambda: append("6 id, '1' amt, 1 twice", 6, text))
frozen = Contract("id BIGINT, twice INT", columns="freeze", types="freeze", rescued="other")
facts["frozen"] = error_of(lambda: append("6L id, 1 twice", 7, frozen))
facts["after"] = spark.table("s.log").columns
aside = Contract("id INT", columns="discard", types="discard_row", quarantine="aside")
facts["one part"] = error_of(lambda: append("'x' id", 8, aside, "a"))
facts["of two parts"] = error_of(lambda: append("'y' id", 8, aside, "b"))

spark.sql("CREATE TABLE s.again (id INT) USING iceberg")
rows = "SELECT '1' id UNION ALL SELECT 'x'"
takes_out = Contract(types="discard_row", quarantine="aside2")


def attempt(number, schema):
    return append_window(spark.sql(rows), "s.again", window(1, number), schema=schema)


facts["attempts"] = [attempt(1, takes_out), attempt(2, takes_out)]
facts["another contract"] = error_of(lambda: attempt(3, rescue))
facts["as it was"] = [attempt(4, takes_out), shown("s.again")[1]]

spark.sql("CREATE TABLE s.must (id INT NOT NULL) USING iceberg")
facts["must"] = error_of(
    lambda: append_window(spark.sql(rows), "s.must", window(1), schema=rescue)
)
folder = spark.sql("DESCRIBE EXTENDED s.must").where("col_name = 'Location'").first()[1]
inside = Contract(types="discard_row", quarantine=f"file://{folder}/aside")
facts["inside"] = error_of(
    lambda: append_window(spark.sql(rows), "s.must", window(1), schema=inside)
)

spark.sql("CREATE TABLE s.raced (id INT) USING iceberg")
other = spark.newSession()
other.table("s.raced").schema  # which it keeps in its cache
append_window(spark.sql("SELECT 1 id, 2 x"), "s.raced", window(1), schema=Contract())
append_window(other.sql("SELECT 2 id, 3 x, 4 y"), "s.raced", window(2), schema=Contract())
facts["raced"] = other.table("s.raced").schema.simpleString()
print(json.dumps(facts))
