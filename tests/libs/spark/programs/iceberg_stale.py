# A window that takes longer than Spark keeps a table, and what its session reads afterwards.
import time

spark.conf.set("spark.sql.catalog.lake.cache.expiration-interval-ms", "4000")
from watermarks import Window, merge_window

spark.sql("CREATE TABLE s.t (id INT, at BIGINT) USING iceberg")
spark.sql("INSERT INTO s.t VALUES (1, 1)")


def audit(rows):
    time.sleep(5)
    return spark.table("s.t").count() == 1 and rows.count() == 2  # Spark loads the table anew


frame = spark.createDataFrame([(2, 2)], "id INT, at BIGINT")
merge_window(frame, "s.t", Window("j", "jr", "at", "1-a", 1, None, 9), ["id"], audit=audit)
refs = [row.name for row in spark.table("lake.s.t.refs").collect()]
print(json.dumps([spark.table("s.t").count(), refs]))
