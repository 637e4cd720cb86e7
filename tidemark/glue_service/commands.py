"""Functions of the command line: deploy an assembly into a home, run a workflow, read state."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError
from tidemark.extras import require
from tidemark.glue_service.catalog_api.open_table_format import check_iceberg, iceberg_table_of
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.killed import recover_interrupted_runs
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.catalog.definitions import put_connections, put_databases
from tidemark.local_state.catalog.tables import catalog_tables, put_tables, table_or_none
from tidemark.local_state.deployment.deployed_apps import DeployedApp, describe_app, publish
from tidemark.local_state.dynamodb import dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import ShowWarnings, show_unseen
from tidemark.model.assembly.catalog_connections import connection_of_request
from tidemark.model.assembly.catalog_databases import database_of_request
from tidemark.model.assembly.catalog_tables import CatalogTable, read_request, table_of_request
from tidemark.model.assembly.cloud_assembly import Assembly, deployable, read_assembly
from tidemark.model.assembly.definitions import Deployment
from tidemark.model.assembly.iceberg import is_of_iceberg
from tidemark.model.assembly.intrinsics import ACCOUNT_ID
from tidemark.model.assembly.template import read_deployment
from tidemark.model.clock import now_ms

DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True)
class App:
    """A synthesized app: read once, then passed on.

    Attributes:
        folder: the cloud assembly.
        assembly: its stacks and assets.
        deployment: the parts that this machine runs.
    """

    folder: Path
    assembly: Assembly
    deployment: Deployment

    @cached_property
    def origin(self) -> DeployedApp:
        """Where its code is from, and that code's digests; read once, however often it is run."""
        return describe_app(self.folder)


NO_APP = App(Path(), Assembly((), ()), Deployment({}, (), (), (), (), {}, DEFAULT_REGION))


def region() -> str:
    """Return the region for names: ``AWS_REGION``, else us-east-1."""
    return os.environ.get("AWS_REGION") or DEFAULT_REGION


def load_app(assembly_folder: Path) -> App:
    """Read an assembly and its definitions; refuse what CloudFormation would refuse."""
    with deployable(assembly_folder):
        assembly = read_assembly(assembly_folder)
        return App(assembly_folder, assembly, read_deployment(assembly, region()))


def deploy(app: App, home: Home) -> Deployment:
    """Create bucket folders, publish scripts and libraries, define the Data Catalog."""
    deployment = app.deployment
    for bucket in deployment.buckets:
        home.create_bucket(bucket)
    for asset in app.assembly.assets:
        text = asset.bucket["Fn::Sub"]
        for name, value in (("AccountId", ACCOUNT_ID), ("Region", deployment.region)):
            text = text.replace("${AWS::" + name + "}", value)
        publish(asset, text, home)
    with Store(home.database) as store:
        if deployment.catalog_databases:
            put_databases(store, deployment.catalog_databases)
        if deployment.catalog_tables or deployment.catalog_connections:
            put_tables(store, deployment.catalog_tables)
            put_connections(store, deployment.catalog_connections)
        for request in deployment.iceberg_tables:
            _create_iceberg_table(home, store, request)
    return deployment


def _create_iceberg_table(home: Home, store: Store, request: Mapping[str, Any]) -> None:
    check_iceberg(request)
    table = table_of_request(request)
    existing = table_or_none(store, table.database, table.name)
    # The metadata of an existing table are what jobs have committed: they stay.
    if existing is None:
        put_tables(store, [iceberg_table_of(home, request, now_ms())])
    elif not existing.is_iceberg:
        raise UsageError(
            f"the template defines {table.full_name} as a table of Iceberg, and here it is one of "
            f"files in {existing.location}; `tidemark catalog drop {table.full_name}` forgets it"
        )


@contextmanager
def open_machine(
    home: Home, warn: ShowWarnings | None = None, jvms: Jvms = NO_JVMS
) -> Iterator[tuple[Machine, Store]]:
    """Yield the shared parts of job runs; holds the home and runs its DynamoDB meanwhile."""
    require("pyspark")
    with home.exclusive():
        java_home = find_java_home()
        with dynamodb_endpoint(home) as endpoint, Store(home.database) as store:
            recover_interrupted_runs(store, jvms)
            show_unseen(store, warn)
            yield Machine(home, java_home, endpoint, region(), jvms), store


def put_in_catalog(file: Path, home: Home) -> str:
    """Define the object in a request of CreateTable, CreateDatabase or CreateConnection."""
    request = read_request(file)
    with Store(home.database) as store:
        if "DatabaseInput" in request:
            database = database_of_request(request)
            put_databases(store, [database])
            return database.name
        if "ConnectionInput" in request:
            connection = connection_of_request(request)
            put_connections(store, [connection])
            return connection.name
        table = table_of_request(request)
        if is_of_iceberg(request):
            check_iceberg(request)
            if table_or_none(store, table.database, table.name):
                raise UsageError(
                    f"the table {table.full_name} exists, and a new one of Iceberg would have none "
                    "of its rows: drop it before"
                )
            table = iceberg_table_of(home, request, now_ms())
        put_tables(store, [table])
        return table.full_name


def list_catalog(home: Home) -> list[CatalogTable]:
    """Return the tables of the local Data Catalog, by database and name."""
    with Store(home.database) as store:
        return catalog_tables(store)
