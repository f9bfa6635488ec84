"""What all importers share: a trial that cannot be kept does not stop the others, and no secret is written."""

from __future__ import annotations

import json
import threading

import pytest
from attrs import evolve

from cassettes.errors import BadInput, UnkeepableValue
from cassettes.model import Call, Ending, Interaction, TrialId, Value
from replay.home import Home
from replay.importers.conversations import Fields, read_conversations
from replay.importers.findings import Fidelity, Findings, FoundLabel, FoundTrial, Identities, Rated, Remark
from replay.importers.importing import import_findings
from replay.importers.keeping import Keeper
from replay.importers.tau2 import read_tau2
from replay.importers.timeline import Timeline
from replay.importers.toolemu import read_toolemu
from replay.labelling.labels import read_labels
from replay.runs import load_run
from replay.scores.blindness import blind_to
from replay.scores.scorefile import read_scores
from replay.scoring import Score
from replay.view import View
from tests.replay.importers.simulations import marks, results, simulation, written
from tests.replay.importers.test_agentdojo import log, read
from tests.replay.importers.test_toolemu import lines, trajectory

SECRET = "sk-proj-" + "a1B2c3D4" * 6
FIDELITY = Fidelity(("a",), ("b",), ("c",))


def looked(value="found"):
    timeline = Timeline("somewhere")
    timeline.tool("look", {"n": 1}, value)
    return timeline.events


def trial(number, task="t", **changes):
    return evolve(FoundTrial(number, task, number, looked(), Ending("completed")), **changes)


def findings(*trials):
    return Findings("some", {"mode": "import", "format": "some"}, "reward@some", FIDELITY, trials)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def test_a_trial_that_cannot_be_kept_is_told_leaves_no_file_and_stops_no_other(home, tmp_path):
    unkeepable = trial(1, events=looked(threading.Lock()))
    long = trial(2, task="x" * 500)
    done = import_findings(home, "r", tmp_path, findings(trial(0), unkeepable, long, trial(3)))
    assert (done.trials, [t.index for t, _ in home.trials("r")]) == (2, [0, 3])
    assert [(r.record, r.imported) for r in done.remarks] == [(1, False), (2, False)]
    assert "lock" in done.remarks[0].what
    assert len(list(home.cassettes.rglob("*.cassette"))) == 2


def test_the_keeper_removes_what_it_could_not_finish(home):
    call = Call("tool", "look", {})
    events = [Interaction(0, call, Value(threading.Lock()), 1, 2)]
    with pytest.raises(UnkeepableValue):
        Keeper(home).keep(TrialId("r", "t", 0), events, Ending("completed"), config={})
    assert not home.cassette(TrialId("r", "t", 0)).exists()


def test_the_run_tells_what_can_be_done_with_it(home, tmp_path):
    import_findings(home, "r", tmp_path, findings(trial(0)))
    assert load_run(home, "r").about["fidelity"] == {"rescored": ["a"], "frozen": ["b"], "view_only": ["c"]}


def test_nothing_is_written_if_there_is_no_trial(home, tmp_path):
    assert import_findings(home, "r", tmp_path, findings()).trials == 0
    assert not home.root.exists()


def test_no_secret_is_written_anywhere(home, tmp_path):
    rated = Rated("reward", "some", Score(1, evidence={"said": f"key {SECRET}"}))
    label = FoundLabel("someone", "agent", type=SECRET, note=f"it showed {SECRET}")
    found = trial(
        0,
        events=looked(f"the key is {SECRET}"),
        ending=Ending("error", f"refused {SECRET}", "agent"),
        scores=(rated,),
        labels=(label,),
        config={"key": SECRET},
        definition={"id": "t", "instruction": SECRET},
    )
    found = evolve(findings(found), config={"mode": "import", "args": {"api_key": SECRET}})
    import_findings(home, "r", tmp_path, found)
    view = View(home.cassette(TrialId("r", "t", 0)))
    texts = [repr([view.ending, view.cassette.header, *view.steps[0].interaction.__getstate__().values()])]
    texts += [p.read_text() for p in (home.run("r")).iterdir() if p.is_file()]
    assert len(texts) == 4  # the cassette, run.json, scores.jsonl, labels.jsonl
    assert all(SECRET not in text for text in texts)
    assert import_findings(home, "r", tmp_path, found).done == {"kept": 1}  # placeholders are the same every time


def test_scores_and_labels_are_written_once(home, tmp_path):
    found = findings(
        trial(0, scores=(Rated("reward", "some", Score(1)),), labels=(FoundLabel("a\nb", "user", at="2026-01-01"),))
    )
    for _ in range(2):
        import_findings(home, "r", tmp_path, found)
    assert len(list(read_scores(home, "r"))) == 1
    assert [(x.author, x.fault, x.at) for x in read_labels(home, "r")[0]] == [("a b", "user", "2026-01-01")]


def test_verdicts_are_those_of_the_primary_score(home, tmp_path):
    other = Rated("other", "some", Score(1))
    done = import_findings(
        home,
        "r",
        tmp_path,
        findings(trial(0, scores=(other, Rated("reward", "some", Score(0)))), trial(1, scores=(other,))),
    )
    assert done.verdicts == {"failed": 1, "unscored": 1}


def test_numbers_that_are_equal_to_nothing_do_not_hinder_the_next_import(home, tmp_path):
    found = evolve(findings(trial(0)), config={"mode": "import", "seed": float("nan")})
    for _ in range(2):
        done = import_findings(home, "r", tmp_path, found)
    assert done.done == {"kept": 1}


def test_identities_are_taken_once_and_free_ones_are_found():
    identities = Identities()
    assert [identities.claim("a", 0), identities.claim(1, 0), identities.free("a"), identities.free("b")] == [
        None,
        None,
        1,
        0,
    ]
    assert "a second record" in identities.claim("1", 0)
    for task, index in ((None, 0), (True, 0), ("", 0), ("#", 0), ("a\nb", 0), ("\ud800", 0), ("a", 2**31), ("a", 1.0)):
        assert identities.claim(task, index) is not None


def test_a_remark_names_its_place():
    assert str(Remark(3, None, None, "odd")) == "record 3: odd"
    assert str(Remark("a.json", "t", 1, "odd", imported=False)) == "a.json (task t, trial 1): odd; not imported"


def test_fields_that_no_importer_knows_are_kept(tmp_path):
    conversation = tmp_path / "in.jsonl"
    conversation.write_text(json.dumps({"messages": [{"role": "assistant", "content": "x"}], "new": 1}) + "\n")
    found = [
        read_tau2(written(tmp_path, results(simulation(new=1)))),
        read(tmp_path / "runs", log(new=1)),
        read_toolemu(lines(tmp_path, trajectory(new=1))),
        read_conversations(conversation),
    ]
    for each in found:
        assert {"from": "other fields", "data": {"new": 1}} in [
            {"from": m["from"], "data": {k: v for k, v in m["data"].items() if k == "new"}}
            for m in marks(each.trials[0], "annotation")
            if m["from"] == "other fields"
        ]


@pytest.mark.parametrize("name", ["", "a@b", "a b"])
def test_a_field_that_can_name_no_score_is_refused(tmp_path, name):
    path = tmp_path / "in.jsonl"
    path.write_text('{"messages": [{"role": "user"}]}\n')
    with pytest.raises(BadInput, match="no score can be named"):
        read_conversations(path, fields=Fields(score=name))


def test_what_a_score_cannot_see_is_told_by_stats(home, tmp_path):
    path = written(tmp_path, results(simulation(), simulation(trial=1)))
    import_findings(home, "tau2", path, read_tau2(path))
    import_findings(home, "dojo", tmp_path, read(tmp_path / "runs", log()))
    assert "faults of the simulated user" in blind_to(home, "tau2", "reward@tau2")
    assert "whether an attack succeeded" in blind_to(home, "dojo", "utility@agentdojo")
    assert blind_to(home, "tau2", "db@tau2") is None
