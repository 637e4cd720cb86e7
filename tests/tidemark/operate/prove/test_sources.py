"""Which files are new to a run: those that arrive, and not what another job has written."""

from __future__ import annotations

import json

from tidemark.local_state.home import Home
from tidemark.local_state.operations import Recorder, record_operations
from tidemark.local_state.run_notes import NOTES_FILE
from tidemark.local_state.store.database import JobRun, Store
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.sources import sources_of
from tidemark.operate.versions.trial import Trial


def test_a_bookmark_on_what_another_job_writes_hides_no_file_that_arrives(tmp_path):
    base = Home.open(tmp_path / "base")
    for name in ("in/0.json", "in/1.json"):
        (base.lake / "lake" / name).parent.mkdir(parents=True, exist_ok=True)
        (base.lake / "lake" / name).write_text("{}")
    with Store(base.database):
        pass
    home = linked_home(base, tmp_path / "run")
    arriving = {f"s3://lake/in/{number}.json" for number in range(2)}
    record_operations(home)
    for uri in arriving:
        Recorder(home, "jr_1").note_opened(uri)
    note = {"files": ["s3://lake/mid/0.json"], "is_bookmarked": True}
    (tmp_path / NOTES_FILE).write_text(json.dumps(note) + "\n")
    with Store(home.database) as store:
        log = str(tmp_path / "log")
        store.put_job_run(JobRun("jr_2", "c", None, None, 0, "SUCCEEDED", 7, log, ""))
    outcome = Outcome(Experiment("again", "well"), home, [Trial(home, (), 7, 8)])

    assert set(sources_of(base, outcome)) == arriving
