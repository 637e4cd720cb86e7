"""Jobs that are put together at random get the verdicts that follow from their parts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

import pytest

from tests.tidemark.operate.prove.jobs import ALL, COMMIT, NEW, Case

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
COUNT = 8
TRANSFORMS = {
    "rows": "",
    "distinct": 'rows = rows.dropDuplicates(["id"])',
    "sums": 'rows = rows.groupBy("day").agg(F.sum("amount").alias("total"))',
}
WRITES = {
    "append": 'rows.write.mode("append").parquet(OUT)',
    "overwrite": 'rows.write.mode("overwrite").parquet(OUT)',
    "partitions": 'rows.write.mode("overwrite").partitionBy("day").parquet(OUT)',
}
DYNAMIC = 'spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")'


@dataclass(frozen=True)
class Parts:
    """How a job reads, what it makes of it, how it writes, and when it commits."""

    read: str
    transform: str
    write: str
    commit: str

    @property
    def name(self) -> str:
        return f"{self.read}-{self.transform}-{self.write}-{self.commit}"

    @property
    def script(self) -> str:
        """The program; a run with nothing new has no columns and writes nothing."""
        steps = [TRANSFORMS[self.transform], WRITES[self.write]]
        body = "\n".join(f"    {step}" for step in steps if step)
        write = f"{DYNAMIC}\nif rows.columns:\n{body}\n"
        if self.read == "all":
            return ALL + write
        first = f"rows = rows.cache()\nrows.count()\n{COMMIT}" if self.commit == "before" else ""
        return NEW + first + write + (COMMIT if self.commit == "after" else "")

    @property
    def verdicts(self) -> dict[str, str]:
        """What must come out, by reasoning alone."""
        reads_all = self.read == "all" or self.commit == "none"
        adds = self.write == "append"
        return {
            "crash": "lost" if self.commit == "before" else "doubled" if adds else "equal",
            "again": "doubled" if adds and reads_all else "equal",
            "parts": self._parts(reads_all),
            "twice": self._twice(reads_all),
        }

    def _parts(self, reads_all: bool) -> str:
        if self.write == "append":
            return "doubled" if reads_all else "equal"
        return "lost" if self.write == "overwrite" and not reads_all else "equal"

    def _twice(self, reads_all: bool) -> str:
        if self.write == "append":
            return "doubled"
        if not reads_all:  # only the file that came again is read
            return "lost" if self.write == "overwrite" else "equal"
        return {"rows": "doubled", "distinct": "equal", "sums": "changed"}[self.transform]


JOBS = [
    *(Parts("new", *one) for one in product(TRANSFORMS, WRITES, ("before", "after", "none"))),
    *(Parts("all", *one, "none") for one in product(TRANSFORMS, WRITES)),
]


CHOSEN = random.Random(20261126).sample(JOBS, COUNT)  # noqa: S311 (not a secret)


@pytest.mark.parametrize("job", CHOSEN, ids=lambda job: job.name)
def test_the_verdict_follows_from_the_parts(job, verdicts):
    found = verdicts(Case(job.name, job.script, {}))

    assert {kind: found[kind] for kind in job.verdicts} == job.verdicts
