"""The JVM state that a script may change for others, kept before a run and restored after.

Everything is compared within the JVM, since each question to it costs a part of a millisecond.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark.testing.spark_settings import debugged

if TYPE_CHECKING:
    from pyspark import SparkContext

HADOOP = "spark.hadoop."


class JvmState:
    """The state of the JVM of a context, as of `remember`."""

    def __init__(self, context: SparkContext) -> None:
        """Take the running context, and find its members outside the API."""
        jvm: Any = context._jvm
        self._jvm = jvm
        self._context = context
        self._scala: Any = context._jsc.sc()
        self._static = jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf()
        self._fields = [_field(self._static, name) for name in ("properties", "overlay")]
        bus = self._scala.listenerBus()
        self._queues = list(_field(bus, "queues").get(bus))

    def remember(self) -> None:
        """Keep the current state; open file systems are opened again."""
        jvm = self._jvm
        # An open file system keeps the settings that it was opened with.
        jvm.org.apache.hadoop.fs.FileSystem.closeAll()
        self._settings = self._scala.conf().toDebugString()
        # Those of Hadoop that live as long as the JVM.
        configurations = [self._context._jsc.hadoopConfiguration(), self._static]
        for conf in configurations:
            conf.size()  # which loads it, if nobody has asked it
        self._hadoop = [
            (field, conf, _copy(field.get(conf)))
            for conf in configurations
            for field in self._fields
        ]
        self._properties = jvm.java.lang.System.getProperties().clone()
        self._zone = jvm.java.util.TimeZone.getDefault()
        self._locale = jvm.java.util.Locale.getDefault()
        self._streams = jvm.java.lang.System.out, jvm.java.lang.System.err
        self._level = self._log_level()
        self._cached_before = self._cached()
        self._listeners = [jvm.java.util.ArrayList(queue.listeners()) for queue in self._queues]

    def put(self, settings: Mapping[str, str]) -> None:
        """Set settings of Spark on the running context; `restore` takes them back."""
        hadoop = self._context._jsc.hadoopConfiguration()
        for name, value in settings.items():
            self._scala.conf().set(name, value)
            if name.startswith(HADOOP):
                hadoop.set(name.removeprefix(HADOOP), value)

    def restore(self) -> None:
        """Restore everything that has changed since `remember`."""
        jvm, scala = self._jvm, self._scala
        for field, conf, properties in self._hadoop:
            field.set(conf, properties)
        self._restore_settings()
        # The state of the JVM outside Spark.
        if not jvm.java.lang.System.getProperties().equals(self._properties):
            jvm.java.lang.System.setProperties(self._properties)
        if not jvm.java.util.TimeZone.getDefault().equals(self._zone):
            jvm.java.util.TimeZone.setDefault(self._zone)
        if not jvm.java.util.Locale.getDefault().equals(self._locale):
            jvm.java.util.Locale.setDefault(self._locale)
        for name, stream in zip(("setOut", "setErr"), self._streams, strict=True):
            getattr(jvm.java.lang.System, name)(stream)
        if self._log_level() != self._level:
            jvm.org.apache.logging.log4j.LogManager.getContext(False).reconfigure()
        for number in self._cached() - self._cached_before:
            scala.unpersistRDD(number, True)
        scala.clearJobGroup()
        scala.setLocalProperties(jvm.java.util.Properties())
        self._remove_listeners()

    def _restore_settings(self) -> None:
        conf = self._scala.conf()
        if conf.toDebugString() == self._settings:
            return
        now = debugged(conf)
        settings = dict(
            line.partition("=")[::2] for line in self._settings.split("\n") if "=" in line
        )
        for name in now.keys() - settings.keys():
            conf.remove(name)
        for name, value in settings.items():
            if now.get(name) != value:
                conf.set(name, value)

    def _cached(self) -> set[int]:
        if not self._scala.getPersistentRDDs().size():
            return set()
        return {int(number) for number in self._context._jsc.getPersistentRDDs()}

    def _log_level(self) -> str:
        return str(self._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel())

    def _remove_listeners(self) -> None:
        bus = self._scala.listenerBus()
        for queue, listeners in zip(self._queues, self._listeners, strict=True):
            added = self._jvm.java.util.ArrayList(queue.listeners())
            added.removeAll(listeners)
            for place in range(added.size()):  # the end of an iterator of Java is an exception
                with contextlib.suppress(Exception):  # it has already ended
                    bus.removeListener(added.get(place))


def _field(instance: Any, name: str) -> Any:
    field = instance.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field


def _copy(properties: Any) -> Any:
    return None if properties is None else properties.clone()
