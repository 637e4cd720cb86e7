"""What is deployed into a home: the assets of an assembly, and where its code came from."""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.local_state.deployment.project_files import PROJECT_MARK, code_files
from tidemark.local_state.home import Home
from tidemark.local_state.machine.own_files import read_own_file, write_own_file
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.cloud_assembly import FileAsset
from tidemark.model.assembly.synthesis import digest_of_assembly, read_synthesis
from tidemark.model.clock import time_of

APPS_FILE = "deployed-apps.json"
MAX_NAMED = 5


@dataclass(frozen=True)
class DeployedApp:
    """One app that was deployed into a home.

    Attributes:
        assembly: the folder that was deployed.
        digest: of the assembly at that time.
        deployed_at_ms: epoch milliseconds.
        names: of its jobs, triggers and workflows, each as `job/NAME`.
        project: the folder of the `cdk.json` around the assembly; empty without one.
        context: the context of its synthesis; None if another program has synthesized it.
        sources: the digest of each code file of the project, by its path below the project.
    """

    assembly: str
    digest: str
    deployed_at_ms: int
    names: tuple[str, ...]
    project: str = ""
    context: Mapping[str, str] | None = None
    sources: Mapping[str, str] | None = None

    @property
    def deployed_at(self) -> str:
        """When it was deployed, for people."""
        return f"{time_of(self.deployed_at_ms):%Y-%m-%d %H:%M:%SZ}"


def describe_app(assembly: Path) -> DeployedApp:
    """Return the record of an assembly that is not deployed yet."""
    folder = assembly.absolute()
    digest = digest_of_assembly(folder)
    synthesis = read_synthesis(folder, digest)
    project = synthesis.project if synthesis else ""
    if not project and (folder.parent / PROJECT_MARK).is_file():
        project = str(folder.parent)
    return DeployedApp(
        assembly=str(folder),
        digest=digest,
        deployed_at_ms=0,
        names=(),
        project=project,
        context=synthesis.context if synthesis else None,
        sources=digests_of(Path(project)) if project else {},
    )


def record_app(home: Home, app: DeployedApp) -> None:
    """Record that an app was deployed; a name belongs to the app that defined it last."""
    mine = set(app.names)
    others = [
        replace(former, names=tuple(name for name in former.names if name not in mine))
        for former in deployed_apps(home)
        if former.assembly != app.assembly or former.context != app.context
    ]
    apps = [asdict(recorded) for recorded in (app, *others) if recorded.names]
    write_own_file(home.root / APPS_FILE, {"apps": apps})


def deployed_apps(home: Home) -> list[DeployedApp]:
    """Return the apps that were deployed into a home, the last one first."""
    try:
        content = read_own_file(home.root / APPS_FILE)
        apps = json.loads(content)["apps"] if content else []
        return [DeployedApp(**{**app, "names": tuple(app["names"])}) for app in apps]
    except (ValueError, KeyError, TypeError):  # not of ours: nothing is known
        return []


def apps_with(apps: Sequence[DeployedApp], kind: str, name: str | None) -> list[DeployedApp]:
    """Return the apps that define something of a name; without a name, anything of that kind."""
    prefix = f"{kind}/"
    return [
        app
        for app in apps
        if any(known == prefix + name if name else known.startswith(prefix) for known in app.names)
    ]


def digests_of(project: Path) -> dict[str, str]:
    """Return the digest of each code file of a project, by its path below the project."""
    digests: dict[str, str] = {}
    for path in code_files(project):
        # A file of an editor may be gone by now, and nobody may be able to read another one.
        with suppress(OSError):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            digests[path.relative_to(project).as_posix()] = digest
    return digests


def changed_sources(app: DeployedApp) -> list[str]:
    """Return the code files of an app's project that differ from those of its deployment."""
    if not app.project or not Path(app.project).is_dir():
        return []
    before, now = app.sources or {}, digests_of(Path(app.project))
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def render_changes(app: DeployedApp, changed: Sequence[str]) -> str:
    """Return which files have changed and when, for people."""
    named = []
    for name in changed[:MAX_NAMED]:
        path, at = Path(app.project, name), "deleted"
        if path.is_file():
            at = f"{datetime.fromtimestamp(path.stat().st_mtime, UTC):%Y-%m-%d %H:%M:%SZ}"
        named.append(f"{name} ({at})")
    more = len(changed) - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])])


def is_synthesized_again(app: DeployedApp, changed: Sequence[str]) -> bool:
    """Return whether an assembly on disk is newer than its deployment and than all that changed."""
    folder = Path(app.assembly)
    manifest = folder / "manifest.json"
    if not manifest.is_file() or digest_of_assembly(folder) == app.digest:
        return False
    return all(time <= manifest.stat().st_mtime_ns for time in _times(app, changed))


def _times(app: DeployedApp, changed: Sequence[str]) -> Iterator[int]:
    for name in changed:
        path = Path(app.project, name)
        existing = path if path.is_file() else path.parent  # a deletion changed its folder
        if existing.exists():
            yield existing.stat().st_mtime_ns


def replace_deployed_jobs(store: Store, stack_of_job: Mapping[str, str]) -> list[str]:
    """Record the jobs of the stacks that are deployed now, and delete those that left them."""
    stacks = set(stack_of_job.values())
    left = [
        row["job_name"]
        for row in store.query("SELECT job_name, stack_name FROM deployed_job ORDER BY job_name")
        if row["stack_name"] in stacks and row["job_name"] not in stack_of_job
    ]
    with store.transaction():
        for name in left:
            store.query("DELETE FROM deployed_job WHERE job_name = ?", (name,))
        for name, stack in stack_of_job.items():
            store.query("INSERT OR REPLACE INTO deployed_job VALUES (?, ?)", (name, stack))
    return [name for name in left if delete_bookmark(store, name)]


ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the CDK command line stamps every member so


def publish(asset: FileAsset, bucket: str, home: Home) -> Path:
    """Copy or zip one asset into its bucket folder, as ``cdk deploy`` uploads it.

    Keys are hashes of the content, so files that are already there are left alone.
    """
    target = home.local_path(f"s3://{bucket}/{asset.key}")
    if target.exists():
        return target
    if not asset.source.exists():
        raise UsageError(f"the assembly names {asset.source}, which does not exist; synth again")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
    if asset.is_zipped:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(p for p in asset.source.rglob("*") if p.is_file()):
                member = zipfile.ZipInfo(path.relative_to(asset.source).as_posix(), ZIP_TIME)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, path.read_bytes())
    else:
        shutil.copyfile(asset.source, unfinished)
    unfinished.replace(target)
    return target
