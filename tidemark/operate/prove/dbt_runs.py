"""Runs of dbt against a port of their own: the states they pass, and deaths between statements."""

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.glue_service.commands import region
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.runs.job_run_process import end_left_over_processes
from tidemark.glue_service.runs.take_over import continue_runs
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.contents import CATALOG
from tidemark.operate.versions.targets import SCRIPTS, files_of

NODE = re.compile(r'"node_id": "([^"]+)"')  # in the comment that dbt puts before each query
OF_SHELL = re.compile(r"AWS_(PROFILE|SESSION_TOKEN|ENDPOINT_URL_.*)")
LOOK_S = 0.2
LAST_CHARACTERS = 600


@dataclass(frozen=True)
class DbtRun:
    """What to run: a project, and the words of the command with the path of dbt first."""

    project: Path
    command: Sequence[str]


@dataclass(frozen=True)
class DbtStatement:
    """A statement of a run: the node of the project that it is of, and the state before it."""

    node: str
    state: str


@dataclass(frozen=True)
class DbtTrial:
    """A run of dbt that is over.

    Attributes:
        home: as it is afterwards.
        statements: those that it has sent, of a run that was killed those of the next one too.
        state: at the end.
        code: its exit code.
        said: the end of what it printed.
        target: the folder of its artifacts, such as manifest.json.
    """

    home: Home
    statements: Sequence[DbtStatement]
    state: str
    code: int
    said: str
    target: Path


def run_dbt(bench: Bench, home: Home, run: DbtRun, killed_before: int | None = None) -> DbtTrial:
    """Run dbt in a home; if it is killed before a statement, with its sessions, it runs again.

    It also runs again if it has ended before that statement: so it would after a death at its end.

    Raises:
        UsageError: dbt cannot be started.
        OutOfTimeError: the proof was interrupted, or its budget has ended.
    """
    target = home.root / "dbt"
    watch = _Watch(home, killed_before)
    options = Options(jvms=bench.jvms, take_over=watch.begin)
    with serving(home, options) as (url, engine):
        variables = _variables(home, url, target)
        code = watch.run(bench, run, variables)
        if killed_before is not None:
            watch.killed_before = None
            code = watch.run(bench, run, variables)
        state = engine.ask(_state)
    said = watch.log.read_text(encoding="utf-8", errors="replace")[-LAST_CHARACTERS:]
    return DbtTrial(home, watch.statements, state, code, said.strip(), target)


def _variables(home: Home, url: str, target: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not OF_SHELL.fullmatch(name)}
    nothing = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
    return {
        **kept,
        **nothing,
        **access_key(home).variables,
        "AWS_ENDPOINT_URL": url,
        **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), region()),
        "AWS_EC2_METADATA_DISABLED": "true",
        "DBT_TARGET_PATH": str(target),
        "DBT_LOG_PATH": str(target),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }


@dataclass
class _Watch:
    """Notes the statements that a port gets, and kills who sends them."""

    home: Home
    killed_before: int | None
    statements: list[DbtStatement] = field(default_factory=list)
    has_killed: bool = False
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.home.root / "dbt.log"

    def begin(self, glue: GlueState) -> None:
        continue_runs(glue)
        glue.sessions.before_statement = partial(self._before, glue)

    def _before(self, glue: GlueState, code: str) -> None:
        if self.has_killed and self.killed_before is not None:
            raise ServiceError("InternalServiceException", "dbt was killed")
        node = NODE.search(code)
        self.statements.append(DbtStatement(node[1] if node else "", _state(glue)))
        if len(self.statements) == self.killed_before:
            self.has_killed = True
            self.kill()
            for session in glue.runner.sessions:
                end_left_over_processes(session.run)
            raise ServiceError("InternalServiceException", "dbt was killed")

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def run(self, bench: Bench, run: DbtRun, variables: Mapping[str, str]) -> int:
        with self.log.open("wb") as log:
            try:
                self.process = subprocess.Popen(  # noqa: S603 (the user's own)
                    run.command,
                    cwd=run.project,
                    env=dict(variables),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise UsageError(
                    f"cannot start dbt: {error}; name it: --dbt-command ../dbt/bin/dbt"
                ) from error
            try:
                while True:
                    bench.observe_run()
                    try:
                        return self.process.wait(LOOK_S)
                    except subprocess.TimeoutExpired:
                        continue
            finally:
                self.kill()
                self.process.wait()


def _state(glue: GlueState) -> str:
    """Return a digest of what a next run can see: the objects of the lake, and the catalog."""
    lake = glue.machine.home.lake
    files = files_of(lake, with_hidden=True)
    objects = sorted(item for item in files.items() if not item[0].startswith(f"{SCRIPTS}/"))
    records = [
        tuple(row)
        for table, columns in CATALOG.items()
        if table.startswith("catalog_")
        for row in glue.store.query(f"SELECT {columns} FROM {table} ORDER BY 1, 2")  # noqa: S608 (fixed)
    ]
    return sha256(repr((objects, records)).encode()).hexdigest()
