"""Automatic upgrades of jobs with GlueVersion `auto`, which the Glue of this machine never makes.

It says what a job runs on, and waits: AWS decides by runs on AWS whether a job can be upgraded. A
job that had a version keeps it; a new one has the newest.

Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades.html
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from tidemark.glue_service.entities import EntityKind, get_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.service_errors import NotFoundError
from tidemark.model.assembly.glue_versions import AUTO, NEWEST, UPGRADE, version_of_job

Definition = Mapping[str, Any]
OBSERVING = "OBSERVING"


def with_upgrade(definition: Definition, old: Definition | None = None) -> dict[str, Any]:
    """Return the definition of a job with the state of its upgrade, if it has `auto`.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_AutoUpgradeMetadata.html
    """
    plain = {key: value for key, value in definition.items() if key != UPGRADE}
    if plain.get("GlueVersion") != AUTO:
        return plain
    if old is not None and UPGRADE in old:
        return {**plain, UPGRADE: old[UPGRADE]}
    source = {} if old is None else {"SourceVersion": version_of_job(old)}
    of_new = {"TargetVersion": NEWEST, **source, "Status": OBSERVING, "AnalysisId": f"ja-{uuid4()}"}
    return {**plain, UPGRADE: of_new}


def get_job_upgrade_analysis(glue: GlueState, request: Definition) -> dict[str, Any]:
    """Return the analysis of a job with `auto`: here it is observed for ever.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_GetJobUpgradeAnalysis.html
    """
    name, wanted = request["jobName"], request["analysisId"]
    upgrade = get_entity(glue.store, EntityKind.JOB, name).definition.get(UPGRADE, {})
    if upgrade.get("AnalysisId") != wanted:
        raise NotFoundError(
            f"Entity Not Found: job {name} has no upgrade analysis {wanted!r}; GetJob "
            f"returns one only for a job whose GlueVersion is {AUTO}"
        )
    return {
        "jobName": name,
        "analysisId": wanted,
        "status": upgrade["Status"],
        "sourceVersion": version_of_job({"GlueVersion": AUTO, UPGRADE: upgrade}),
        "targetVersion": upgrade["TargetVersion"],
        "analysisType": "AUTO_UPGRADE",
    }
