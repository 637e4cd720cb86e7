"""Apps that are deployed on the port one after the other."""

from __future__ import annotations

import json

from tidemark.glue_service.deployments import deploy_on_port


def test_of_two_stages_with_names_alike_the_last_one_deployed_has_them(port, write_assembly):
    def deploy(stack, *jobs):
        folder = write_assembly(dict.fromkeys(jobs, ""), {name: ["one"] for name in jobs[1:]})
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        manifest["artifacts"]["stack"]["properties"]["stackName"] = stack
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        port.engine.ask(lambda glue: deploy_on_port(glue, folder))
        found = port.glue.get_triggers()["Triggers"]
        return sorted(trigger["Name"] for trigger in found)

    port.job("mine")
    port.glue.create_trigger(Name="mine", Type="ON_DEMAND", Actions=[{"JobName": "mine"}])

    assert deploy("app-dev", "one", "two") == ["app-dev-beforetwo", "app-dev-start", "mine"]
    assert deploy("app-prod", "one", "three") == ["app-prod-beforethree", "app-prod-start", "mine"]
    assert deploy("app-dev", "one") == ["app-dev-start", "mine"]
