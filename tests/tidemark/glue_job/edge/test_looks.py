"""What a script looks for in the JVM is noted, and what Spark looks for on its way is not."""

from __future__ import annotations

from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home
from tidemark.local_state.operations import record_operations
from tidemark.local_state.reads import read_opened

SCRIPT = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
hadoop = spark._jvm.org.apache.hadoop.fs
rows = spark.read.json("s3://lake/in/")
rows.write.mode("append").json("s3://lake/out/")
files = hadoop.Path("s3://lake/done/").getFileSystem(spark._jsc.hadoopConfiguration())
assert not files.exists(hadoop.Path("s3://lake/done/flag"))
assert [one.getPath().getName() for one in files.globStatus(hadoop.Path("s3://lake/i*"))] == ["in"]
"""


def test_what_a_script_asks_hadoop_for_counts_as_looked_at(tmp_path):
    home = Home.open(tmp_path / "home")
    (home.lake / "lake/in").mkdir(parents=True)
    (home.lake / "lake/in/1.json").write_text('{"id": 1}\n', encoding="utf-8")
    script = tmp_path / "looks.py"
    script.write_text(SCRIPT, encoding="utf-8")
    record_operations(home)

    run, _ = submit(Submission(script, "looks", {}), home, lambda _: None)

    assert run.state == "SUCCEEDED", run.error_message
    looked_at = {uri for _, uri in read_opened(home)}
    assert looked_at == {"s3://lake/in/1.json", "s3://lake/done/flag", "s3://lake/"}
