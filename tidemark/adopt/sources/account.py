"""Reads the jobs to adopt from an AWS account; nothing there is changed."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from tidemark.adopt.model import Difference, Existing, Resource
from tidemark.adopt.places import place_of
from tidemark.adopt.sources import account_surroundings as surroundings
from tidemark.adopt.starts.triggers import crawlers_of
from tidemark.errors import TidemarkError, UsageError, show

if TYPE_CHECKING:
    import boto3

MISSING = "EntityNotFoundException"


def read_account(
    session: "boto3.Session", jobs: Iterable[str], workflow: str | None, *, with_roles: bool = False
) -> Existing:
    """Return the named jobs of an account, or the jobs of a workflow, with their surroundings."""
    try:
        return _Account(session).read(list(jobs), workflow, with_roles)
    except (BotoCoreError, ClientError) as error:
        raise TidemarkError(
            f"AWS refuses: {error}; use credentials and a region of the account of the jobs, that "
            "may glue:Get* and glue:List*; nothing was written"
        ) from error


class _Account:
    """The clients of one account and region."""

    def __init__(self, session: "boto3.Session") -> None:
        self._session = session
        self._glue: Any = session.client("glue")  # boto3-stubs has no types for it here
        self._s3 = session.client("s3")
        self._unread: list[Difference] = []

    def read(self, names: list[str], workflow_name: str | None, with_roles: bool) -> Existing:
        """Return what there is; see `read_account`."""
        every = surroundings.listed(self._glue, "get_triggers", "Triggers")
        triggers = {trigger["Name"]: trigger for trigger in every}
        named = (trigger.get("WorkflowName") for trigger in triggers.values())
        workflows = {str(name) for name in named if name}
        workflow = None
        if workflow_name:
            workflow = self._get("get_workflow", "Workflow", Name=workflow_name)
            if workflow is None:
                raise self._missing("workflow", workflow_name, sorted(workflows))
            names = names or jobs_of(triggers.values(), workflow_name)
        jobs = {name: self._job(name) for name in names}
        crawlers = self._crawlers(crawlers_of(triggers.values(), names, workflow_name))
        events = surroundings.workflows_by_event(triggers.values(), [*jobs, *crawlers])
        arns = {name: self._arn("workflow", name) for name in events}
        rules, unread = surroundings.read_rules(self._session, arns)
        clock, unread_clock = surroundings.read_schedules(self._session)
        around, unread_around = surroundings.read_around(self._session)
        nodes = (*jobs.values(), *crawlers.values())
        roles = [str(node["Role"]) for node in nodes if "Role" in node]
        names_taken = (*self._names("get_jobs", "Jobs"), *self._names("get_crawlers", "Crawlers"))
        return Existing(
            origin=f"the account of your credentials, {self._glue.meta.region_name}",
            jobs=jobs,
            triggers=triggers,
            workflow=workflow,
            crawlers=crawlers,
            locations=self._locations(crawlers.values()),
            bookmarks=self._bookmarks(names),
            scripts=self._scripts(jobs),
            connections=self._connections(jobs.values()),
            bucket_keys=self._bucket_keys(jobs.values(), crawlers.values()),
            taken=frozenset({*names, *workflows, *crawlers, *names_taken}),
            rules=rules,
            clock=clock,
            roles=surroundings.read_roles(self._session, roles) if with_roles else {},
            unread=(*self._unread, *unread, *unread_clock, *unread_around),
            around=around,
        )

    def _missing(self, kind: str, name: str, known: Iterable[str]) -> UsageError:
        return UsageError(
            f"there is no {kind} {show(name)} in {self._glue.meta.region_name}; allowed: "
            f"{', '.join(known) or 'none yet'}"[:1000]
        )

    def _job(self, name: str) -> Resource:
        """Return a job, with its tags if they are readable."""
        job = self._get("get_job", "Job", JobName=name)
        if job is None:
            raise self._missing("job", name, self._names("get_jobs", "Jobs"))
        return self._with_tags("job", name, job)

    def _with_tags(self, kind: str, name: str, resource: Resource) -> Resource:
        try:
            tags = self._glue.get_tags(ResourceArn=self._arn(kind, name))["Tags"]
        except ClientError as error:
            why, do = f"AWS refuses to show them ({error})", "compare them by hand"
            self._unread.append(Difference(f"{kind} {name}", ("Tags",), None, why, do))
            return resource
        return {**resource, **({"Tags": tags} if tags else {})}

    def _arn(self, kind: str, name: str) -> str:
        arn = self._session.client("sts").get_caller_identity()["Arn"].split(":")
        return f"arn:{arn[1]}:glue:{self._glue.meta.region_name}:{arn[4]}:{kind}/{name}"

    def _get(self, operation: str, key: str, **request: str) -> Resource | None:
        """Return a resource; None if it is missing."""
        try:
            answer: Resource = getattr(self._glue, operation)(**request)[key]
        except ClientError as error:
            if error.response["Error"]["Code"] == MISSING:
                return None
            raise
        return answer

    def _names(self, operation: str, key: str) -> list[str]:
        return [resource["Name"] for resource in surroundings.listed(self._glue, operation, key)]

    def _crawlers(self, names: Iterable[str]) -> dict[str, Resource]:
        return {
            name: self._with_tags("crawler", name, crawler)
            for name in names
            if (crawler := self._get("get_crawler", "Crawler", Name=name))
        }

    def _locations(self, crawlers: Iterable[Resource]) -> dict[str, str]:
        """Return where tables that crawlers name have their data, as far as it may be read."""
        locations = {}
        for database, name in [
            (target["DatabaseName"], name)
            for crawler in crawlers
            for target in crawler.get("Targets", {}).get("CatalogTargets", [])
            for name in target["Tables"]
        ]:
            with suppress(ClientError):  # the crawler is left out, with the reason
                table = self._get("get_table", "Table", DatabaseName=database, Name=name) or {}
                if where := table.get("StorageDescriptor", {}).get("Location"):
                    locations[f"{database}.{name}"] = str(where)
        return locations

    def _bookmarks(self, jobs: Iterable[str]) -> dict[str, Resource | None]:
        """Return the bookmarks that may be read; a job that never stored one has None."""
        bookmarks = {}
        for name in jobs:
            with suppress(ClientError):  # not allowed: it is taken for one that has a bookmark
                bookmarks[name] = self._get("get_job_bookmark", "JobBookmarkEntry", JobName=name)
        return bookmarks

    def _connections(self, jobs: Iterable[Resource]) -> dict[str, Resource]:
        """Return the properties of the connections of jobs, without passwords."""
        fields = [job.get("Connections") or {} for job in jobs]
        named = [name for field in fields for name in field.get("Connections", [])]
        connections: dict[str, Resource] = {}
        for name in dict.fromkeys(named):
            with suppress(ClientError):  # its secret is declared once the first run is denied
                answer = self._glue.get_connection(Name=name, HidePassword=True)["Connection"]
                secret = (answer.get("AuthenticationConfiguration") or {}).get("SecretArn")
                own = answer.get("ConnectionProperties") or {}
                connections[name] = {**own, **({"SecretArn": secret} if secret else {})}
        return connections

    def _scripts(self, jobs: Mapping[str, Resource]) -> dict[str, str]:
        """Return the readable scripts; the plan says how to fetch the others."""
        scripts = {}
        for name, job in jobs.items():
            location = job.get("Command", {}).get("ScriptLocation", "")
            bucket, _, key = location.removeprefix("s3://").partition("/")
            if location.startswith("s3://") and key:
                with suppress(ClientError, UnicodeDecodeError):
                    body = self._s3.get_object(Bucket=bucket, Key=key)["Body"].read()
                    scripts[name] = body.decode("utf-8")
        return scripts

    def _bucket_keys(
        self, jobs: Iterable[Resource], crawlers: Iterable[Resource]
    ) -> dict[str, str]:
        """Return the KMS keys of the buckets that are named, as far as they may be read."""
        values = [text for job in jobs for text in job.get("DefaultArguments", {}).values()]
        targets = [crawler.get("Targets", {}).get("S3Targets", []) for crawler in crawlers]
        values += [target.get("Path", "") for of_crawler in targets for target in of_crawler]
        buckets = {place.bucket for text in values if (place := place_of(str(text)))}
        keys = {}
        for bucket in sorted(buckets):
            with suppress(ClientError):  # the plan says what to check about a bucket
                answer = self._s3.get_bucket_encryption(Bucket=bucket)
                for rule in answer["ServerSideEncryptionConfiguration"]["Rules"]:
                    default = rule.get("ApplyServerSideEncryptionByDefault", {})
                    if (key := default.get("KMSMasterKeyID", "")).startswith("arn:"):
                        keys[bucket] = key
        return keys


def jobs_of(triggers: Iterable[Resource], workflow: str) -> list[str]:
    """Return the jobs that the triggers of a workflow start, in their order."""
    names = dict.fromkeys(
        action["JobName"]
        for trigger in triggers
        if trigger.get("WorkflowName") == workflow
        for action in trigger.get("Actions", [])
        if action.get("JobName")
    )
    if not names:
        text = f"the workflow {show(workflow)} starts no job, so there is nothing to adopt"
        raise UsageError(text)
    return list(names)
