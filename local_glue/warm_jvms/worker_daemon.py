"""Starts Spark's Python workers in the folder of their run: a warm JVM stays where it began.

Spark calls ``python -m local_glue.warm_jvms.worker_daemon`` for the property
``spark.python.daemon.module``.
"""

import os

from pyspark.daemon import manager

if __name__ == "__main__":
    os.chdir(os.environ.pop("TIDEMARK_WORKER_FOLDER"))
    manager()  # type: ignore[no-untyped-call]
