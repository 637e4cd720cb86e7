"""Compiles the classes for the JVM into a jar, with the Java compiler that comes with Spark."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from tidemark.errors import TidemarkError
from tidemark.glue_job.process.lake_fs.semantics import PROPERTY
from tidemark.local_state.home import S3_SCHEMES
from tidemark.local_state.machine.installation import FOLDER
from tidemark.local_state.sparks.installed import Spark, own_spark

ROOM = Path(__file__).parents[2]
# Packages with their folder and their Java classes, those that others use first.
CLASSES = (
    (
        "lake",
        "process/lake_fs",
        "Bucket Edge ObjectStore Upload AnnouncedFile LakeFileSystem UploadCommitter "
        "DirectCommitter",
    ),
    ("jvm", "process", "Statics GeneratedCode WarmJvm"),
    ("cluster", "cluster", "NoPages Standalone"),
    ("files", "readers/files", "FileOfRow"),
    ("json", "readers/json", "JsonKinds"),
    ("json", "writers", "JsonText"),
    (
        "catalog",
        "metastore",
        "Metastore Connected SparkJson LocalTables LocalCatalog HiveTables Nothing "
        "CatalogExtensions JsonLook",
    ),
    (
        "jdbc",
        "edge/jdbc",
        "Sql Settings Changes WatchedStatement WatchedConnection Databases WatchedProvider "
        "FirstDriver Watch",
    ),
)
SPARK_VERSIONS = ROOM / "process" / "spark_versions"
# What Spark 4 calls otherwise: Seq of Scala 2.13, and the servlets of Jetty.
SPARK_4_SOURCES = {
    "import scala.collection.Seq;": "import scala.collection.immutable.Seq;",
    "import javax.servlet.": "import jakarta.servlet.",
}
EDGE = "tidemark.edge"  # the Hadoop property with the socket that is told of each change
LAKE = "tidemark.lake"  # the Hadoop property with the folder of the lake
FILE_SYSTEM = "dev.tidemark.lake.LakeFileSystem"
FILE_CONTEXT = "org.apache.hadoop.fs.s3a.S3A"
# Classes that scripts name in fs.s3.impl and the like, by their names on Glue and in Hadoop.
NAMES_ON_AWS = (
    "com.amazon.ws.emr.hadoop.fs.EmrFileSystem",
    "org.apache.hadoop.fs.s3.S3FileSystem",
    "org.apache.hadoop.fs.s3a.S3AFileSystem",
    "org.apache.hadoop.fs.s3native.NativeS3FileSystem",
)
LOG_SETTINGS, SPARKS = "log4j2.properties", "org/apache/spark/log4j2-defaults.properties"
# Who sends garbage to a port of Spark, as every user of the machine can, fills no log.
SELDOM = "".join(
    f"logger.{name}.name = {package}\nlogger.{name}.level = warn\n"
    f"logger.{name}.filter.seldom.type = BurstFilter\n"
    f"logger.{name}.filter.seldom.level = fatal\n"
    f"logger.{name}.filter.seldom.rate = 0.1\n"  # a second; 20 may come at once
    f"logger.{name}.filter.seldom.maxBurst = 20\n"
    for name, package in {"network": "org.apache.spark.network", "netty": "io.netty"}.items()
)
A_DATE = (1980, 1, 1, 0, 0, 0)  # constant: the same source gives the same jar


def hadoop_settings(lake: Path) -> dict[str, str]:
    """Return the Hadoop properties that map every scheme of S3 to the buckets of a lake."""
    return {LAKE: str(lake), **_classes_of_schemes()}


def _classes_of_schemes() -> dict[str, str]:
    settings: dict[str, str] = {}
    for scheme in S3_SCHEMES:
        settings[f"fs.{scheme}.impl"] = FILE_SYSTEM
        settings[f"fs.AbstractFileSystem.{scheme}.impl"] = FILE_CONTEXT
    return settings


def lake_jar(java_home: Path, spark: Spark | None = None) -> Path:
    """Return the jar for a Spark, this Python's by default; it is compiled if it is missing."""
    spark = spark or own_spark()
    jar = FOLDER / jar_name(spark)
    if not jar.is_file():
        classes = compiled(_sources(spark).values(), java_home, spark)
        files = {"core-site.xml": _core_site(), LOG_SETTINGS: _log_settings(spark)}
        write_jar(jar, dict(classes) | {name: text.encode() for name, text in files.items()})
    return jar


def jar_name(spark: Spark | None = None) -> str:
    """Return the name of the jar, which changes with its content and with Spark."""
    spark = spark or own_spark()
    parts = (spark.version, *_sources(spark).values(), _core_site(), SELDOM)
    return f"lake-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:16]}.jar"


def _sources(spark: Spark) -> dict[str, str]:
    """Return the source of each class by its full name, those that others use first."""
    java = {
        f"dev.tidemark.{package}.{name}": (ROOM / folder / f"{name}.java").read_text("utf-8")
        for package, folder, names in CLASSES
        for name in names.split()
    }
    lake = {name: text for name, text in java.items() if ".lake." in name}
    aliases = {name: alias(name, FILE_SYSTEM) for name in NAMES_ON_AWS}
    version = (SPARK_VERSIONS / f"Spark{spark.major}.java").read_text("utf-8")
    others = {FILE_CONTEXT: _file_context(FILE_CONTEXT), "dev.tidemark.jvm.SparkVersion": version}
    sources = lake | aliases | others | java
    if spark.major == 3:
        return sources
    for before, after in SPARK_4_SOURCES.items():
        sources = {name: text.replace(before, after) for name, text in sources.items()}
    return sources


def alias(name: str, implementation: str) -> str:
    """Return the source of a class that is another one by its own name."""
    package, _, simple = name.rpartition(".")
    return f"package {package}; public class {simple} extends {implementation} {{}}"


def _file_context(name: str) -> str:
    """Return the source of the class with which Hadoop's FileContext uses the file system."""
    package, _, simple = name.rpartition(".")
    return f"""package {package};
        public class {simple} extends org.apache.hadoop.fs.DelegateToFileSystem {{
            public {simple}(java.net.URI uri, org.apache.hadoop.conf.Configuration conf)
                    throws java.io.IOException, java.net.URISyntaxException {{
                super(uri, new {FILE_SYSTEM}(), conf, uri.getScheme(), false);
            }}
        }}"""


def _core_site() -> str:
    # A Configuration that a script creates itself does not have the settings of Spark.
    names = (LAKE, PROPERTY, EDGE)
    settings = {name: f"${{spark.hadoop.{name}}}" for name in names} | _classes_of_schemes()
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n"
        for name, value in settings.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{properties}</configuration>\n'


def _log_settings(spark: Spark) -> str:
    """Return Spark's own settings of its logs, with `SELDOM`."""
    for file in (spark.home / "jars").glob("spark-co*.jar"):  # in that of the core until Spark 4
        with ZipFile(file) as jar, suppress(KeyError):
            return f"{jar.read(SPARKS).decode()}\n{SELDOM}"
    raise TidemarkError(f"no jar of Spark in {spark.home} has {SPARKS}: install it again")


def compiled(
    sources: Iterable[str],
    java_home: Path,
    spark: Spark | None = None,
    more_jars: Iterable[Path] = (),
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the classes that Java sources define."""
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    jars = (spark or own_spark()).home / "jars"
    port, token = launch_gateway(
        jarpath=str(next(jars.glob("py4j-*.jar"))),
        classpath=os.pathsep.join([f"{jars}/*", *map(str, more_jars)]),
        java_path=str(java_home / "bin" / "java"),
        die_on_exit=True,
        enable_auth=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    try:
        loader = None
        for source in sources:
            compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
            if loader is not None:
                compiler.setParentClassLoader(loader)
            compiler.cook(source)
            loader = compiler.getClassLoader()
            for name, code in compiler.getBytecodes().items():
                yield f"{name.replace('.', '/')}.class", bytes(code)
    finally:
        gateway.shutdown()


def write_jar(jar: Path, files: dict[str, bytes]) -> None:
    """Write a jar, all of it or nothing."""
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
        unfinished = Path(folder) / jar.name
        with ZipFile(unfinished, "w") as archive:
            for name, content in sorted(files.items()):
                archive.writestr(ZipInfo(name, A_DATE), content)
        unfinished.replace(jar)
