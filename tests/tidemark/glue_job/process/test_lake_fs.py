"""No path of S3 leads out of the lake, whatever its bucket, its key, its scheme or its API."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException, PySparkException

from tests.sampled import sampled
from tests.tries import tries
from tidemark.glue_job.process.lake_fs.jar import FILE_SYSTEM, NAMES_ON_AWS

pytestmark = pytest.mark.spark

SCHEMES = ["s3", "s3a", "s3n"]
CONTENT = "outside of the lake"
REFUSED = (Py4JJavaError, IllegalArgumentException)
NO_BUCKET = r"NoSuchBucket.*tidemark bucket nobody-made-it"
PARTS = ["..", ".", "", "a", "%2e%2e", "..%2f", "link", "in", "é:ü", "etc", "..."]


class Hadoop:
    """Hadoop's FileSystem and Path as a script gets them from Spark."""

    def __init__(self, spark: Any) -> None:
        self._hadoop = spark.sparkContext._jvm.org.apache.hadoop
        self.conf = spark.sparkContext._jsc.hadoopConfiguration()

    def path(self, uri: str) -> Any:
        return self._hadoop.fs.Path(uri)

    def system(self, uri: str, conf: Any = None) -> Any:
        return self.path(uri).getFileSystem(conf or self.conf)

    def own_configuration(self) -> Any:
        return self._hadoop.conf.Configuration()


@pytest.fixture(scope="module")
def hadoop(spark_session):
    return Hadoop(spark_session)


@pytest.fixture(scope="module")
def outside(tmp_path_factory, spark_home):
    """Return a folder outside of the lake with a file, and links to it in a bucket of their own."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret.txt").write_text(CONTENT, encoding="utf-8")
    (spark_home.lake / "linked").symlink_to(folder)
    put_links(spark_home.lake / "escape", folder)
    return folder


def put_links(bucket: Path, outside: Path) -> None:
    """Empty a bucket but for links that lead out of it."""
    shutil.rmtree(bucket, ignore_errors=True)
    (bucket / "in").mkdir(parents=True)
    (bucket / "link").symlink_to(outside)
    (bucket / "in" / "link").symlink_to(outside / "secret.txt")


def state_of(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text(encoding="utf-8") for path in folder.rglob("*")}


def is_untouched(folder: Path) -> bool:
    return state_of(folder) == {str(folder / "secret.txt"): CONTENT}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_bucket_without_a_folder_does_not_exist_for_spark(spark, spark_home, outside, scheme):
    uri = f"{scheme}://nobody-made-it{outside}"

    with pytest.raises(Py4JJavaError, match=NO_BUCKET):
        spark.read.text(uri)
    with pytest.raises(Py4JJavaError, match=NO_BUCKET):
        spark.range(3).write.mode("overwrite").text(uri)

    assert is_untouched(outside)
    assert not (spark_home.lake / "nobody-made-it").exists()


def test_a_table_cannot_be_made_in_a_bucket_that_does_not_exist(spark, outside):
    with pytest.raises(Py4JJavaError, match="NoSuchBucket"):
        spark.sql(f"CREATE TABLE t (a INT) USING parquet LOCATION 's3://nobody-made-it{outside}/t'")

    assert is_untouched(outside)


def test_a_bucket_made_while_the_session_runs_can_be_used(spark, spark_home):
    with pytest.raises(Py4JJavaError, match="NoSuchBucket"):
        spark.read.text("s3://made-later/")

    spark_home.create_bucket("made-later")
    spark.range(3).write.parquet("s3://made-later/rows/")

    assert spark.read.parquet("s3://made-later/rows/").count() == 3


@pytest.mark.parametrize("authority", ["..", ".", "", "user:key@escape", "escape:80"])
def test_what_is_no_bucket_is_refused(spark, authority):
    with pytest.raises(REFUSED, match=r"bucket|URI|port"):
        spark.read.text(f"s3://{authority}/etc")


@pytest.mark.parametrize(
    "key",
    ["../../../{outside}", "a/../../../../{outside}", "link", "link/x", "in/link", "../linked"],
)
def test_key_that_leads_out_of_the_bucket_is_refused(spark, outside, key):
    uri = f"s3://escape/{key.format(outside=outside)}"

    with pytest.raises(IllegalArgumentException, match="leads out of"):
        spark.read.text(uri)
    with pytest.raises(IllegalArgumentException, match="leads out of"):
        spark.range(3).write.mode("overwrite").parquet(uri)

    assert is_untouched(outside)


@pytest.mark.parametrize("call", ["create", "mkdirs", "rename"])
def test_link_to_what_is_not_there_yet_makes_nothing_outside(hadoop, spark_home, tmp_path, call):
    bucket = spark_home.lake / "dangling"
    bucket.mkdir(exist_ok=True)
    (bucket / "first").unlink(missing_ok=True)
    (bucket / "second").unlink(missing_ok=True)
    (bucket / "first").symlink_to(bucket / "second")
    (bucket / "second").symlink_to(tmp_path / "not-there-yet")
    (bucket / "here").write_text("{}", encoding="utf-8")
    system, link = hadoop.system("s3://dangling/"), hadoop.path("s3://dangling/first")
    calls: dict[str, Callable[[], Any]] = {
        "create": lambda: system.create(link, True).close(),
        "mkdirs": lambda: system.mkdirs(link),
        "rename": lambda: system.rename(hadoop.path("s3://dangling/here"), link),
    }

    with pytest.raises(IllegalArgumentException, match="leads nowhere"):
        calls[call]()

    assert list(tmp_path.iterdir()) == []
    assert (bucket / "here").exists()


def test_replacing_a_folder_removes_a_link_in_it_and_not_what_it_points_to(spark, s3, outside):
    s3.put("old.json", "{}")
    (s3.folder / "link").symlink_to(outside)

    spark.range(3).write.mode("overwrite").json(s3.uri)

    assert spark.read.json(s3.uri).count() == 3
    assert is_untouched(outside)


@pytest.mark.parametrize(
    "name",
    [
        "org.apache.hadoop.fs.RawLocalFileSystem",
        *sampled(NAMES_ON_AWS, "org.apache.hadoop.fs.s3a.S3AFileSystem"),
    ],
)
def test_class_that_a_script_sets_for_a_scheme_changes_nothing_about_it(
    spark, hadoop, s3, outside, name
):
    conf = hadoop.conf
    conf.set("fs.s3.impl", name)
    conf.setBoolean("fs.s3.impl.disable.cache", True)
    try:
        if name in NAMES_ON_AWS:
            spark.range(3).write.parquet(s3.uri)
            assert spark.read.parquet(s3.uri).count() == 3
        with pytest.raises(REFUSED, match=r"NoSuchBucket|Wrong FS"):
            spark.range(3).write.mode("overwrite").parquet(f"s3://nobody-made-it{outside}")
        with pytest.raises(REFUSED, match=r"leads out|Wrong FS"):
            spark.range(3).write.mode("overwrite").parquet(f"s3://escape/../../../{outside}")
    finally:
        conf.set("fs.s3.impl", FILE_SYSTEM)
        conf.unset("fs.s3.impl.disable.cache")

    assert is_untouched(outside)


def test_configuration_that_a_script_makes_itself_knows_the_lake(hadoop, s3):
    s3.put("a.json", "{}")

    (found,) = hadoop.system(s3.uri, hadoop.own_configuration()).listStatus(hadoop.path(s3.uri))

    assert found.getPath().toString() == f"{s3.uri}a.json"


def test_deleting_everything_in_a_bucket_leaves_the_bucket(hadoop, spark_home):
    spark_home.create_bucket("emptied")
    (spark_home.lake / "emptied" / "a").mkdir()
    (spark_home.lake / "emptied" / "a" / "b.json").write_text("{}", encoding="utf-8")

    assert hadoop.system("s3://emptied/").delete(hadoop.path("s3://emptied/"), True)

    assert list((spark_home.lake / "emptied").iterdir()) == []


def test_rdd_and_copies_between_s3_and_this_machine_work(spark, hadoop, s3, tmp_path):
    (tmp_path / "here.txt").write_text("a\nb\n", encoding="utf-8")
    here, there = hadoop.path((tmp_path / "here.txt").as_uri()), hadoop.path(f"{s3.uri}there.txt")

    hadoop.system(s3.uri).copyFromLocalFile(here, there)
    hadoop.system(s3.uri).copyToLocalFile(there, hadoop.path((tmp_path / "back.txt").as_uri()))

    assert spark.sparkContext.textFile(f"{s3.uri}there.txt").collect() == ["a", "b"]
    assert (tmp_path / "back.txt").read_text(encoding="utf-8") == "a\nb\n"


def test_appending_to_an_object_is_refused_as_s3_has_no_such_thing(hadoop, s3):
    s3.put("a.json", "{}")

    with pytest.raises(PySparkException, match="append is not supported by S3"):
        hadoop.system(s3.uri).append(hadoop.path(f"{s3.uri}a.json"))


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", SCHEMES)
def test_stream_keeps_its_checkpoint_in_s3(spark, s3, scheme):
    uri = s3.uri.replace("s3://", f"{scheme}://")
    s3.put("in/a.json", '{"id": 1}\n')
    rows = spark.readStream.schema("id INT").json(f"{uri}in/").writeStream

    query = (
        rows.trigger(availableNow=True)
        .option("checkpointLocation", f"{uri}checkpoint/")
        .format("parquet")
        .start(f"{uri}out/")
    )
    query.awaitTermination()

    assert spark.read.parquet(f"{uri}out/").collect() == [(1,)]


KEYS = st.lists(st.sampled_from([*PARTS, "{outside}"]), min_size=1, max_size=8).map("/".join)
URIS = st.tuples(
    st.sampled_from(SCHEMES), st.sampled_from(["escape", "linked", "nobody", "..", "tests"]), KEYS
).map(lambda parts: "{}://{}/{}".format(*parts))
CALLS = st.sampled_from(["read", "list", "create", "mkdirs", "delete", "rename", "move in", "copy"])


@given(URIS, CALLS)
@settings(max_examples=tries(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_call_on_any_path_reads_or_changes_what_is_outside(
    hadoop, spark_home, outside, uri, call
):
    put_links(spark_home.lake / "escape", outside)
    uri = uri.format(outside=outside)
    found = ""

    with contextlib.suppress(Py4JJavaError, PySparkException):
        found = _called(hadoop, call, uri)

    assert is_untouched(outside)
    assert "secret.txt" not in found
    assert CONTENT not in found


def _called(hadoop: Hadoop, call: str, uri: str) -> str:
    """Do something with a path and with a file below it; return what can be seen of it."""
    system, path, below = hadoop.system(uri), hadoop.path(uri), hadoop.path(f"{uri}/secret.txt")
    inside = hadoop.path(f"{uri.partition('://')[0]}://escape/here")
    calls: dict[str, Callable[[], Any]] = {
        "read": lambda: bytes(_read(system.open(below))).decode(),
        "list": lambda: [str(status.getPath()) for status in system.listStatus(path)],
        "create": lambda: system.create(below, True).close(),
        "mkdirs": lambda: system.mkdirs(hadoop.path(f"{uri}/x")),
        "delete": lambda: system.delete(path, True),
        "rename": lambda: system.mkdirs(inside) and system.rename(inside, path),
        "move in": lambda: system.rename(path, inside),
        "copy": lambda: (system.setWorkingDirectory(path), system.create(hadoop.path("x"), True)),
    }
    return str(calls[call]())


def _read(stream: Any) -> Iterator[int]:
    return iter(stream.read, -1)


@pytest.mark.rule(
    "Files of S3",
    source="S3A",
    choice="whatever they contain; with a DynamicFrame the run warns of one with data",
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_spark_does_not_list_folder_markers(spark, hadoop, s3, scheme):
    spark.sql("SELECT 1 AS id").write.parquet(f"{s3.uri}_year=2024")
    for name in ("_year=2024_$folder$", "_year=2024/hour=1_$folder$"):
        s3.put(name, "")
    s3.put("in_$folder$", "data")
    uri = s3.uri.replace("s3", scheme, 1)

    found = spark.read.parquet(uri)

    assert found.collect() == [(1, 2024)]
    listed = hadoop.system(uri).listStatus(hadoop.path(uri))
    assert [one.getPath().getName() for one in listed] == ["_year=2024"]
    assert spark.read.table(f"parquet.`{uri}`").collect() == [(1, 2024)]
    assert hadoop.system(uri).exists(hadoop.path(f"{uri}in_$folder$"))
    assert (s3.folder / "in_$folder$").read_text() == "data"
