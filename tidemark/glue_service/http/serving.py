"""Opens a home as a local Glue on a port, and closes it again.

Services are imported and made when a client first asks: most runs have none.
"""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from tidemark.extras import require
from tidemark.glue_service.access.gate import Gate, key_of_port
from tidemark.glue_service.commands import region
from tidemark.glue_service.engine import Engine, load
from tidemark.glue_service.eventbridge.bus import deliver
from tidemark.glue_service.eventbridge.documents import state_change
from tidemark.glue_service.eventbridge.log import LOG, Events
from tidemark.glue_service.eventbridge.rules import Rules
from tidemark.glue_service.eventbridge.topics import Topics
from tidemark.glue_service.glue_state import GlueState, origin_of
from tidemark.glue_service.http.pages import Pages
from tidemark.glue_service.http.server import listening
from tidemark.glue_service.lazy import Lazy
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.runs.take_over import continue_runs
from tidemark.glue_service.served import ServedPort, announced
from tidemark.glue_service.state_machines.execution_rows import open_executions
from tidemark.glue_service.state_machines.live import LiveExecutions, begin_in_background
from tidemark.glue_service.workflows.due import Schedules
from tidemark.glue_service.workflows.flows import Flows
from tidemark.local_state.dynamodb import dynamodb_endpoint
from tidemark.local_state.home import Home, has_uploads
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.machine.loopback import LOOPBACK, LOOPBACK_NAMES
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.clock import now_ms

if TYPE_CHECKING:
    from tidemark.glue_service.http.application import Application
    from tidemark.glue_service.http.other_services import OtherServices


@dataclass(frozen=True)
class Options:
    """How a local Glue is served.

    Attributes:
        host: the address; other machines can reach any address but loopback.
        port: its number, 0 for a free one.
        any_user: whether it answers other users of this machine too.
        any_key: whether it answers requests that are not signed with its access key.
        names: the hosts that a request may name, from `routes.names_of_port`.
        jvms: the supply of JVMs for job runs.
        observe: called in the engine's thread with each run whose final state was recorded.
        on_start: called in the engine's thread with each run that was recorded as RUNNING.
        lineage: called there with both; sends their events without waiting.
        is_of_command: whether it serves one run and ends with it: no schedule fires then.
        take_over: called first, with the runs that a dead engine has left.
        clock: epoch milliseconds.
        say: called in separate threads with messages that no client waits for.
        on_event: a command that gets each event on its standard input; None for none.
        max_parallel: how many job runs have a process at once; None takes the number of cores.
        on_death: called in the engine's thread if an error ends it.
        forwards: URLs of other services, by their names in signatures.
        tasks: functions in the place of tasks of state machines, by the name of their state.
        pages: answers browsers; None if nothing does. Used on loopback alone.
    """

    host: str = LOOPBACK
    port: int = 0
    names: frozenset[str] = LOOPBACK_NAMES
    any_user: bool = False
    any_key: bool = False
    jvms: Jvms = NO_JVMS
    observe: Callable[[JobRun], None] = lambda _: None
    on_start: Callable[[JobRun], None] = lambda _: None
    lineage: Callable[[JobRun], None] = lambda _: None
    is_of_command: bool = False
    take_over: Callable[[GlueState], None] = continue_runs
    clock: Callable[[], int] = now_ms
    say: Callable[[str], None] = lambda _: None
    on_event: str | None = None
    max_parallel: int | None = None
    on_death: Callable[[BaseException], None] = lambda _: None
    forwards: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    pages: Pages | None = None


@contextmanager
def serving(home: Home, options: Options = Options()) -> Iterator[tuple[str, Engine]]:
    """Serve a home as long as the block runs; yield the URL and the engine."""
    require("waitress")
    events = Events(home.root / LOG, options.on_event, options.say)
    with (
        closing(events),
        _other_services(home, options) as (topics, others),
        listening(options.host, options.port) as listener,
    ):
        secret = secrets.token_hex(32)
        port = ServedPort(listener.url, os.getpid(), secret, options.is_of_command, region())
        wants_objects = threading.Event()
        # A command runs what it starts, and leaves older executions to `tidemark serve`.
        live = LiveExecutions(options.tasks, options.clock() if options.is_of_command else 0)
        bus = Rules(wants_objects), topics
        open_glue = partial(_open, home, options, events, port, bus, live)
        with Engine(open_glue, options.on_death) as engine:
            pages = options.pages if is_private(options) else None

            def make() -> "Application":
                from tidemark.glue_service.http.application import Application

                return Application(engine, home, region(), others(), wants_objects, pages)

            application = Lazy(make)
            if has_uploads(home):
                # Making it deletes what is left of dead uploads.
                application()
            key = None if options.any_key else key_of_port(home)
            gate = Gate(key, port.secret, options.names, has_pages=pages is not None)
            listener.serve(application, gate, any_user=options.any_user)
            live.begin = partial(begin_in_background, application)
            if engine.ask(lambda glue: open_executions(glue.store)):
                live.begin()
            try:
                yield listener.url, engine
            finally:
                live.close_all()
                listener.close(others.made.waits if others.made else None)


@contextmanager
def _other_services(home: Home, options: Options) -> Iterator[tuple[Topics, Lazy["OtherServices"]]]:
    def make() -> "OtherServices":
        from tidemark.glue_service.http.other_services import OtherServices

        return OtherServices(home, options.forwards, topics)

    others = Lazy(make)
    topics = Topics(others, options.say)
    try:
        yield topics, others
    finally:
        topics.close()
        if others.made is not None:
            others.made.close()


def is_private(options: Options) -> bool:
    """Return whether only programs of this user, on this machine, reach the port."""
    return options.host == LOOPBACK and options.names == LOOPBACK_NAMES and not options.any_user


@contextmanager
def _open(
    home: Home,
    options: Options,
    events: Events,
    port: ServedPort,
    bus: tuple[Rules, Topics],
    live: LiveExecutions,
) -> Iterator[GlueState]:
    with home.exclusive(), announced(home, port):
        java_home = find_java_home()
        with dynamodb_endpoint(home) as endpoint, Store(home.database) as store:
            machine = Machine(home, java_home, endpoint, region(), options.jvms, port.url)
            flows, schedules = Flows(store, options.clock), Schedules()

            def has_ended(run: JobRun) -> None:
                if event := state_change(run, origin_of(glue)):
                    deliver(glue, event)
                options.observe(run)
                options.lineage(run)
                live.changes.note()

            def has_started(run: JobRun) -> None:
                options.on_start(run)
                options.lineage(run)

            most = options.max_parallel
            runner = Runner(machine, store, flows.follow, has_ended, most, has_started)
            clock, say = options.clock, options.say
            glue = GlueState(
                machine, store, runner, flows, schedules, clock, say, events.tell, *bus
            )
            glue.is_of_command, glue.executions = options.is_of_command, live
            try:
                load(glue)
                options.take_over(glue)
                yield glue
            finally:
                runner.close()
