"""The properties of a crawler of Glue that `add_crawler` cannot say, with remedies: a table.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-crawling.html
"""

from tidemark.adopt.jobs.fields import FACT

ON_RESOURCE = "set it on crawler.resource if it matters"

FIELDS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("CrawlElapsedTime", "CreationTime", "LastCrawl", "LastUpdated"), FACT),
    **dict.fromkeys(("State", "Version"), FACT),
    "Classifiers": ("names of classifiers are strings", "name them in options="),
    "Configuration": ("CrawlerOptions has no such value", ON_RESOURCE),
    "CrawlerSecurityConfiguration": (
        "the pipeline has its own, which encrypts the log of the crawler with its key",
        "nothing: a crawler writes no data",
    ),
    "Description": ("a description has 1 to 2,048 characters", "write another, in options="),
    "LakeFormationConfiguration": (
        "the crawler reads its targets with its own role",
        f"{ON_RESOURCE}, and grant that role the locations in Lake Formation",
    ),
    "LineageConfiguration": ("the constructs have none", ON_RESOURCE),
    "Name": (
        "CloudFormation makes no crawler whose name is taken",
        "see the steps: the new crawler takes over, and then the old one is deleted",
    ),
    "RecrawlPolicy": (
        "allowed are CRAWL_EVERYTHING and, for data in S3 with changes that are only logged, "
        "CRAWL_NEW_FOLDERS_ONLY; the crawler gets CRAWL_EVERYTHING",
        "compare the duration of its first crawls with those of the old one",
    ),
    "Role": (
        "the crawler gets its own role, which reads its targets and writes its tables",
        "compare its policies with those of the old role",
    ),
    "Schedule": (
        "the workflow starts the crawler, and nothing else does",
        "start it at these times with your own schedule, if the workflow is not enough",
    ),
    "SchemaChangePolicy": (
        "allowed are the values that the API lists; the crawler gets Glue's default",
        "see it",
    ),
    "TablePrefix": (
        "a prefix has up to 128 lower case letters, digits and _, as names in the catalog are",
        "see that the tables which jobs use still have their names",
    ),
    "Tags": ("AWS, or the pipeline, sets tags that start so; a value is not empty", "nothing"),
    "Targets": (
        "a crawler of a pipeline reads folders of S3, tables whose data is in one, databases by "
        "JDBC, open tables without a manifest and DynamoDB, each as the code shows",
        f"{ON_RESOURCE}, with the permissions of its role (crawler.role.add_to_principal_policy)",
    ),
}
