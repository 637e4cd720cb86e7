"""Which job runs may borrow a JVM: settings and variables as plain data."""

from __future__ import annotations

import pytest

from tidemark.glue_job.process.own_jvm import own_jvm_reason


@pytest.mark.parametrize(
    "name",
    [
        "spark.driver.memory",
        "spark.driver.memoryOverhead",
        "spark.driver.cores",
        "spark.driver.extraClassPath",
        "spark.driver.extraJavaOptions",
        "spark.driver.extraLibraryPath",
        "spark.driver.defaultJavaOptions",
        "spark.driver.userClassPathFirst",
        "spark.jars",
        "spark.jars.packages",
        "spark.jars.ivySettings",
        "spark.files",
        "spark.archives",
        "spark.submit.pyFiles",
        "spark.submit.deployMode",
        "spark.pyspark.python",
        "spark.pyspark.driver.python",
        "spark.python.use.daemon",
        "spark.sql.hive.metastore.jars",
        "spark.sql.hive.metastore.version",
        "spark.sql.codegen.cache.maxEntries",
        "spark.sql.broadcastExchange.maxThreadThreshold",
        "spark.kerberos.keytab",
    ],
)
def test_setting_that_a_jvm_reads_once_needs_a_jvm_of_its_own(name):
    why = own_jvm_reason({name: "x"}, {}, {})

    assert why is not None
    assert name in why


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.app.name", "x"),
        ("spark.master", "local[1]"),
        ("spark.master", "local"),
        ("spark.driver.host", "localhost"),
        ("spark.driver.maxResultSize", "1g"),
        ("spark.executor.memory", "4g"),
        ("spark.sql.shuffle.partitions", "7"),
        ("spark.sql.extensions", "a.B"),
        ("spark.sql.catalogImplementation", "hive"),
        ("spark.sql.warehouse.dir", "/w"),
        ("spark.serializer", "org.apache.spark.serializer.KryoSerializer"),
        ("spark.hadoop.fs.s3.impl", "a.B"),
        ("spark.jarsomething", "x"),
        ("spark.local.dir", "/t"),
    ],
)
def test_ordinary_setting_does_not(name, value):
    assert own_jvm_reason({name: value}, {}, {}) is None


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "k8s://host", "mesos://host"])
def test_another_master_does(master):
    why = own_jvm_reason({"spark.master": master}, {}, {})

    assert why is not None
    assert master in why


@pytest.mark.parametrize(
    "name",
    [
        "TZ",
        "LANG",
        "LC_ALL",
        "JAVA_HOME",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "PYSPARK_SUBMIT_ARGS",
        "PYSPARK_PYTHON",
        "SPARK_CONF_DIR",
        "SPARK_LOCAL_DIRS",
        "HADOOP_USER_NAME",
        "HADOOP_CONF_DIR",
        "LD_PRELOAD",
        "_JAVA_OPTIONS",
    ],
)
@pytest.mark.parametrize(
    ("given", "changed"),
    [(None, "new"), ("old", "new"), ("old", None)],
    ids=["set", "changed", "removed"],
)
def test_changed_variable_of_the_jvm_does(name, given, changed):
    before = {} if given is None else {name: given}
    after = {} if changed is None else {name: changed}

    why = own_jvm_reason({}, before, after)

    assert why is not None
    assert name in why


@pytest.mark.parametrize("name", ["AWS_REGION", "PYTHONPATH", "PATH", "MY_SETTING", "HOME"])
def test_other_variable_does_not(name):
    assert own_jvm_reason({}, {name: "a"}, {name: "b"}) is None
    assert own_jvm_reason({}, {}, {name: "b"}) is None


def test_variable_of_the_jvm_that_stayed_does_not():
    assert own_jvm_reason({}, {"TZ": "UTC"}, {"TZ": "UTC", "X": "1"}) is None
