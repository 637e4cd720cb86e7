"""What a job that compares rows does: it reads what is asked, and writes the answers."""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidemark.operate.rows.spark_values import SETTINGS


def answer_asked(answer: Callable[[SparkSession, dict[str, Any]], Any], at_once: int = 1) -> None:
    """Answer the `questions` in the file of ``--asked``, into its file `out`."""
    file = Path(sys.argv[sys.argv.index("--asked") + 1])
    asked = json.loads(file.read_text(encoding="utf-8"))
    spark = SparkSession.builder.getOrCreate()
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    with ThreadPoolExecutor(at_once) as threads:  # Spark plans a query on one core
        answers = list(threads.map(lambda question: answer(spark, question), asked["questions"]))
    Path(asked["out"]).write_text(json.dumps(answers), encoding="utf-8")
    spark.stop()
