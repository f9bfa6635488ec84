"""What a score cannot see is written down with it, and told."""

from __future__ import annotations

from replay.scores.blindness import blind_to, keep_blindness, known_blindness
from replay.scoring import BLIND_TO, OWN, final_state, scorer
from tests.replay.recorded import keep, read


@scorer(version="3", blind_to=["tone", "facts"])
def polite(view):
    return True


def test_each_of_our_own_scorers_says_what_it_cannot_see():
    assert all(own.blind_to for own in OWN.values())
    assert BLIND_TO["reward@taubench"]


def test_what_a_users_scorer_says_is_kept_with_the_run(home):
    keep(home, "r/t#0", [read()])
    keep_blindness(home, "r", [polite, final_state, scorer(lambda view: True)])
    keep_blindness(home, "r", [polite])
    assert known_blindness(home, "r") == {"polite@3": ("tone", "facts"), "final_state@1": final_state.blind_to}
    assert (home.run("r") / "scorers.jsonl").read_text().count("polite") == 1
    assert blind_to(home, "r", "polite@3") == ("tone", "facts")


def test_one_that_does_not_say_is_unknown(home):
    keep(home, "r/t#0", [read()])
    assert blind_to(home, "r", "polite@3") is None
    assert blind_to(home, "r", "reward@taubench") == BLIND_TO["reward@taubench"]
    assert blind_to(home, "r", "reward@elsewhere") is None


def test_the_last_line_counts_and_a_damaged_one_does_not(home):
    keep(home, "r/t#0", [read()])
    keep_blindness(home, "r", [polite])
    newer = scorer(name="polite", version="3", blind_to=["tone"])(lambda view: True)
    keep_blindness(home, "r", [newer])
    with (home.run("r") / "scorers.jsonl").open("a") as file:
        file.write('{"scorer": "pol')
    assert blind_to(home, "r", "polite@3") == ("tone",)
