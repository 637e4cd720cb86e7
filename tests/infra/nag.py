"""Synthesizes the apps of `test_nag.py` with cdk-nag's packs: python -m tests.infra.nag FOLDER.

One process for all of them: Node, the CDK and the packs take longer to load than an app does.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.fixtures.synthesis import DATABASE, ROOT
from tidemark.app import find_node

SAMPLES = ("dev", "prod", "prod with all options")
APPS = (*SAMPLES, "what is there already", "all constructs")


def main(folder: Path) -> None:
    """Write each app, and what was acknowledged in it, into a folder of its name."""
    os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
    import aws_cdk as cdk

    acknowledged = watch(cdk)
    for name in APPS:
        out = folder / name
        out.mkdir()
        if name in SAMPLES:
            synthesize_sample(cdk, name, out)
        elif name == "what is there already":
            from tests.docs.test_existing_resources_doc import make_app

            with_packs(cdk, make_app(cdk, str(out))).synth()
        else:
            from tests.fixtures.everything import declare_everything

            (out / "project").mkdir()
            with_packs(cdk, declare_everything(cdk, out / "project", str(out))).synth()
        (out / "acknowledged.json").write_text(json.dumps(acknowledged))
        acknowledged.clear()


def watch(cdk: Any) -> list[list[str]]:
    """Return a list that gets what is acknowledged where, also what no rule asks for."""
    of, made = cdk.Validations.of, []

    def watched(scope: Any) -> Any:
        found = of(scope)
        acknowledge = found.acknowledge

        def noted(*rules: Any) -> None:
            made.extend([scope.node.path, rule.id, rule.reason] for rule in rules)
            acknowledge(*rules)

        found.acknowledge = noted
        return found

    cdk.Validations.of = watched
    return made


def with_packs(cdk: Any, app: Any) -> Any:
    """Return an app with cdk-nag as further validation plugins."""
    import cdk_nag as nag

    packs = [nag.AwsSolutionsChecks, nag.HIPAASecurityChecks]
    packs += [nag.NIST80053R5Checks, nag.PCIDSS321Checks]
    cdk.Validations.of(app).add_plugins(*(pack(app, verbose=True) for pack in packs))
    return app


def synthesize_sample(cdk: Any, name: str, out: Path) -> None:
    """Run the app itself."""
    import app

    os.environ |= {"CDK_OUTDIR": str(out), "CDK_CONTEXT_JSON": json.dumps(context_of(name))}
    make = cdk.App
    cdk.App = lambda **settings: with_packs(cdk, make(**settings))
    assert app.main() == 0
    cdk.App = make


def context_of(name: str) -> dict[str, object]:
    """Return the stage of the sample: as it is, or one that asks for all there is."""
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["tidemark:stages"]
    if name != "prod with all options":
        return {"stage": name, "tidemark:explain": True}
    stages["prod"] |= {
        "alertEmail": "oncall@example.com",
        "monthlyBudgetUsd": 100,
        "githubRepository": "acme/pipelines",
        "permissionsBoundary": "bounds",
        "flightsSource": DATABASE,
    }
    return {"stage": "prod", "tidemark:stages": stages, "tidemark:explain": True}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
