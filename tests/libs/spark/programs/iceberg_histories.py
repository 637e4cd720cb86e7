# Windows into a table of Iceberg whose snapshots other people move, and runs that die at any step.
# Arguments: seeds. Prints for each what came: the rows that are wrong, or the name of the refusal.
import random
from dataclasses import replace

from watermarks import Window, WatermarksError, append_window, merge_window
from watermarks.spark import append, iceberg_target
from watermarks.table.latest import Latest

seeds = json.loads(sys.argv[2])
STEPS = ("before the branch", "after the branch", "after the write", "before the commit", "after the commit")
SCHEMAS = {"append": "id INT, at BIGINT", "merge": "id INT, at BIGINT", "history": "id INT, since BIGINT, till BIGINT"}


class Died(BaseException):
    """The run was killed."""


class Death:
    """Ends runs at a step, as a kill does: what would clean up does not run either."""

    def __init__(self):
        self.step = None
        self.is_dead = False
        target = iceberg_target.IcebergTarget
        made, published, removed, committed = target._is_made, target._is_published, target._remove, iceberg_target._is_committed

        def make(*given):
            self.at("before the branch")
            done = made(*given)
            self.at("after the branch")
            return done

        def publish(*given):
            self.at("after the write")
            iceberg_target._is_committed = commit
            try:
                return published(*given)
            finally:
                iceberg_target._is_committed = committed

        def commit(call):
            self.at("before the commit")
            done = committed(call)
            self.at("after the commit")
            return done

        target._is_made, target._is_published = make, publish
        target._remove = lambda *given: None if self.is_dead else removed(*given)

    def at(self, step):
        if step == self.step:
            self.is_dead = True
            raise Died


death = Death()


class Story:
    """A job with windows of one row each, and the people who have the same table."""

    def __init__(self, seed):
        self.random, self.table = random.Random(seed), f"s.t{seed}"
        self.how = self.random.choice(list(SCHEMAS))
        self.attempt, self.low, self.open, self.base, self.others = 0, 0, None, None, 1000
        self.lost = set()
        self.log = [self.how]
        self.create("CREATE TABLE")

    def sql(self, text):
        return spark.sql(text).collect()

    def create(self, verb, rows=""):
        self.sql(f"{verb} {self.table} ({SCHEMAS[self.how]}) USING iceberg")

    def snapshots(self):
        return [row.snapshot_id for row in self.sql(f"SELECT snapshot_id FROM lake.{self.table}.snapshots ORDER BY committed_at")]

    def line(self):
        return [row.snapshot_id for row in self.sql(f"SELECT snapshot_id FROM lake.{self.table}.history WHERE is_current_ancestor")]

    def ids(self, place=None):
        return sorted(row.id for row in self.sql(f"SELECT id FROM {place or self.table}") if row.id < 1000)

    # What others do

    def append(self, place=None):
        self.others += 1
        values = f"({self.others}, 1{', NULL' if self.how == 'history' else ''})"
        self.sql(f"INSERT INTO {place or self.table} VALUES {values}")

    def call(self, text):
        self.sql(f"CALL lake.system.{text}")

    def rollback(self):
        if len(self.line()) > 1:
            self.call(f"rollback_to_snapshot('{self.table}', {self.random.choice(self.line()[:-1])})")

    def set_current(self):
        if self.snapshots():
            self.call(f"set_current_snapshot('{self.table}', {self.random.choice(self.snapshots())})")

    def expire(self):
        self.call(
            f"expire_snapshots(table => '{self.table}', older_than => TIMESTAMP '2100-01-01', "
            f"retain_last => {self.random.choice([1, 1, 2, 3])})"
        )

    def compact(self):
        self.call(f"rewrite_data_files(table => '{self.table}', options => map('rewrite-all', 'true'))")

    def create_or_replace(self):
        self.create("CREATE OR REPLACE TABLE")

    def drop_and_create(self):
        self.lost |= set(range(1, self.low + 1))  # nothing in the new table tells of them
        self.sql(f"DROP TABLE {self.table} PURGE")
        self.create("CREATE TABLE")

    def fast_forward(self):
        if not self.line():
            return
        name = f"b{self.others}"
        self.sql(f"ALTER TABLE {self.table} CREATE BRANCH {name}")
        self.append(f"lake.{self.table}.branch_{name}")
        self.call(f"fast_forward('{self.table}', 'main', '{name}')")

    def publish_left_branch(self):
        """Make what a dead run has left the table."""
        names = [row.name for row in self.sql(f"SELECT name FROM lake.{self.table}.refs") if "_" in row.name]
        if names:
            try:
                self.call(f"fast_forward('{self.table}', 'main', '{names[0]}')")
            except Exception as error:
                assert "is not an ancestor" in str(error), error

    def cherry_pick(self):
        left = [one for one in self.snapshots() if one not in self.line()]
        if not left:
            return
        picked = self.random.choice(left)
        added = set(self.ids(f"{self.table} VERSION AS OF {picked}"))
        if not added & set(self.ids()):  # else they bring rows twice, not the library
            try:
                self.call(f"cherrypick_snapshot('{self.table}', {picked})")
            except Exception as error:
                assert "Cannot" in str(error), error

    def stage_and_publish(self):
        self.sql(f"ALTER TABLE {self.table} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
        spark.conf.set("spark.wap.id", f"w{self.others}")
        self.append()
        spark.conf.unset("spark.wap.id")
        self.call(f"publish_changes('{self.table}', 'w{self.others - 1}')")

    # What the job does

    def run(self, dies_at=None):
        self.attempt += 1
        if self.open is None:
            window_id = f"{self.attempt:010d}-ab"
            self.open = Window("j", "r", "at", window_id, 0, self.low, self.low + 1, base=self.base)
        is_recovered = self.open.attempt > 0
        window = replace(self.open, attempt=self.attempt, is_recovered=is_recovered)
        self.open = window
        frame = spark.createDataFrame([(self.low + 1, 10)], "id INT, at BIGINT")
        death.step, death.is_dead = dies_at, False
        append._appended.clear()  # another process
        try:
            if self.how == "append":
                append_window(frame, self.table, window)
            else:
                history = ("since", "till") if self.how == "history" else None
                merge_window(frame, self.table, window, ["id"], history=history)
        except Died:
            return
        finally:
            death.step = None
        self.low, self.open = self.low + 1, None
        self.base = Latest("r", self.attempt, {"at": self.low}, committed={window.window_id: {}})

    def tell(self):
        acts = [self.append, self.rollback, self.set_current, self.expire, self.compact] * 3
        acts += [self.cherry_pick, self.fast_forward, self.publish_left_branch] * 2
        acts += [self.create_or_replace, self.drop_and_create, self.stage_and_publish]
        try:
            for _ in range(self.random.randint(1, 3)):
                for _ in range(self.random.randint(0, 2)):
                    self.do(self.random.choice(acts))
                self.do(self.run, self.random.choice([None, *STEPS, "after the commit"]))
                for _ in range(self.random.randint(0, 4)):
                    self.do(self.random.choice(acts))
            for _ in range(2):
                self.do(self.run)
        except WatermarksError as error:
            return {"refused": type(error).__name__, "log": self.log, "why": str(error)}
        wrong = [one for one in range(1, self.low + 1) if one not in self.lost and self.ids().count(one) != 1]
        return {"wrong": wrong, "log": self.log, "ids": self.ids()}

    def do(self, act, *given):
        self.log.append(" ".join([act.__name__, *map(str, given)]))
        act(*given)


for seed in seeds:
    print(json.dumps([seed, Story(seed).tell()]))
