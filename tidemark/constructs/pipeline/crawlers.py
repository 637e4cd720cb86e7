"""Adds crawlers to a pipeline."""

from collections.abc import Sequence

from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam

from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.crawlers.options import CrawlerOptions
from tidemark.constructs.crawlers.permissions import LOGS
from tidemark.constructs.crawlers.targets import Target
from tidemark.constructs.jobs.conditions import Condition
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.constructs.pipeline.checks import check_tags
from tidemark.constructs.pipeline.workflow import Workflow
from tidemark.constructs.predicates import Predicate


class Crawlers(Workflow):
    """A workflow that crawlers can be added to."""

    def add_crawler(
        self,
        name: str,
        *,
        targets: Sequence[Target],
        database: glue.CfnDatabase | str,
        after: Predicate | Sequence[GlueJob | Crawler | Condition] = (),
        options: CrawlerOptions | None = None,
        role: iam.IRole | None = None,
    ) -> Crawler:
        """Create a crawler of this pipeline and what starts it.

        Args:
            name: name of the crawler in kebab case, unique in the app.
            targets: what it reads: datasets, `CrawledData` with exclusions, `CrawledTable`,
                `CrawledDatabase`, `CrawledOpenTables` or `CrawledDynamoDB`.
            database: the database of the Data Catalog that it writes, `lake.catalog_database`, or
                its name.
            after: as for `add_job`.
            options: what it does with tables that have changed, a prefix for their names, and so
                on.
            role: as for `add_job`.

        Returns:
            The crawler, to be named in `after` of later jobs and crawlers.

        Raises:
            JobDefinitionError: the name is taken, something is named that is not in this pipeline,
                or the crawler itself cannot be deployed.
        """
        check_tags(name, self._stage, options, of="crawler")
        place = self._nodes.place("crawler", name, after)
        self.security.encrypt_logs(LOGS)
        crawler = Crawler(
            self,
            place.id_,
            name=name,
            targets=targets,
            database=database,
            shared=self._shared,
            options=options,
            role=role,
        )
        self.crawlers[name] = crawler
        self._nodes.waits[name] = place.after
        self.monitoring.alerts.on_failed_crawl()
        self._triggers.add(place.id_, crawler, place.after)
        return crawler
