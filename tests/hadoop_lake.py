"""A file system of Hadoop over a folder of a test, with semantics and a recorder of its changes."""

from __future__ import annotations

from typing import Any

from tests.edge import Recorder


class Lake:
    """A file system of Hadoop over a folder of the test, with semantics and a recorder."""

    def __init__(self, spark: Any, s3: Any, semantics: str, recorder: Recorder) -> None:
        self.s3, self.recorder = s3, recorder
        self._hadoop = spark.sparkContext._jvm.org.apache.hadoop
        conf = self._hadoop.conf.Configuration(spark.sparkContext._jsc.hadoopConfiguration())
        conf.set("tidemark.lake.semantics", semantics)
        conf.set("tidemark.edge", str(recorder.path))
        uri = spark.sparkContext._jvm.java.net.URI.create(s3.uri)
        self.system = self._hadoop.fs.FileSystem.newInstance(uri, conf)

    def path(self, key: str) -> Any:
        return self._hadoop.fs.Path(f"{self.s3.uri}{key}")

    def put(self, key: str, text: str = "{}") -> None:
        out = self.system.create(self.path(key), True)
        out.write(text.encode())
        out.close()

    def rename(self, source: str, target: str) -> bool:
        return bool(self.system.rename(self.path(source), self.path(target)))

    def delete(self, key: str, *, recursive: bool = True) -> bool:
        return bool(self.system.delete(self.path(key), recursive))

    def keys(self) -> list[str]:
        files = (path for path in self.s3.folder.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.s3.folder)) for path in files)

    def changes(self) -> list[str]:
        """Return what was announced, with keys in place of URIs."""
        return [one.replace(self.s3.uri, "") for one in self.recorder.changes]
