"""`trialtape run --ab`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import sys

import pytest

from replay.home import Home

SUITE = """
import trialtape as tt

@tt.tool(effect="read", external=False)
def look(number):
    return number

def agent(trial):
    look(trial.settings["goes"])

@tt.scorer(version="1")
def went_well(view):
    return view.steps[0].outcome.value == "well"

def of(tasks):
    return tt.Suite(
        [tt.Task(id=f"t{n}") for n in range(tasks)], agent, [went_well], settings={"goes": "well"}
    )

suite, few, three = of(30), of(8), of(3)

@tt.scorer(name="attack_success", version="1")
def fell(view):
    return True

harm = tt.Suite([tt.Task(id="t0")], agent, [fell], settings={"goes": "well"})
"""


@pytest.fixture
def arms(tmp_path):
    (tmp_path / "arm_suite.py").write_text(SUITE)
    for name, goes in (("good", "well"), ("poor", "badly")):
        (tmp_path / f"{name}.toml").write_text(f'[settings]\ngoes = "{goes}"\n')
    return tmp_path


@pytest.fixture
def ab(call, arms):
    def run(*options, a="good", b="poor", suite="suite"):
        pair = ["--ab", arms / f"{a}.toml", arms / f"{b}.toml"]
        return call("run", f"{arms / 'arm_suite.py'}:{suite}", *pair, "--trials", 2, *options)

    return run


def test_both_arms_are_compared(ab, call):
    done = ab(suite="few")
    assert done.exit_code == 0
    assert done.stdout.startswith(
        "good → poor: 8 tasks paired, 16 and 16 trials counted, score went_well@1\n"
        "  changed: settings: goes well → goes badly\n"
    )
    assert "8 of 8 tasks moved: 8 down, 0 up" in done.stdout
    assert done.stderr == "good: 16 trials: 16 completed\npoor: 16 trials: 16 completed\n"
    assert call("compare", "good", "poor").exit_code == 2
    again = call("compare", "good", "poor", "--changed", "settings")
    assert (again.exit_code, again.stdout) == (0, done.stdout)
    assert call("stats", "poor").exit_code == 0


@pytest.mark.parametrize(
    ("a", "b", "code", "verdict"),
    [("poor", "good", 0, "PASS"), ("good", "poor", 1, "FAIL"), ("good", "good2", 6, "UNDECIDED")],
)
def test_evidence_is_the_exit_code_and_stops_early(ab, arms, a, b, code, verdict):
    (arms / "good2.toml").write_text("")
    done = ab("--margin", 0.05, "--sequential", "-j", 2, a=a, b=b)
    assert done.exit_code == code
    assert done.stdout.endswith(f"\n{verdict}\n")
    assert ("stopped after" in done.stdout) == (verdict != "UNDECIDED")
    made = len(list(Home(arms / "home").trials(b)))
    assert (made < 60) == (verdict != "UNDECIDED")


def test_the_path_is_shown_and_kept(ab, home):
    done = ab("--margin", 0.05, "--sequential", a="poor", b="good")
    lines = done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("look  task"))
    assert lines[start].split() == ["look", "task", "poor", "good", "pass^1:", "for", "pass^1:", "against"]
    kept = json.loads((home / "cassettes" / "good" / "sequential.json").read_text())
    assert [line.split()[1] for line in lines[start + 1 : start + 1 + len(kept["looks"])]] == [
        look["task"] for look in kept["looks"]
    ]
    assert "evidence 23.5 for and 0.14 against, 20 decides" in done.stdout
    assert (
        "stopped after 6 of 30 tasks: intervals and p of the table do not allow for that, the evidence does"
        in done.stdout
    )


def test_a_pair_that_was_stopped_stays_decided(ab, files):
    first = ab("--margin", 0.05, "--sequential", a="poor", b="good")
    before = files()
    again = ab("--margin", 0.05, "--sequential", a="poor", b="good")
    assert (again.exit_code, again.stdout) == (first.exit_code, first.stdout)
    assert files() == before
    assert "12 trials (12 from before)" in again.stderr
    other = ab("--margin", 0.06, "--sequential", a="poor", b="good")
    assert other.exit_code == 2
    assert "begun with another margin (0.05, now 0.06)" in other.stderr


def test_what_was_decided_is_what_the_gate_says_of_both_runs(ab, call):
    done = ab("--margin", 0.05, "--sequential", a="poor", b="good")
    held = call("gate", "good", "--against", "poor", "--margin", 0.05, "--sequential", "--changed", "settings")
    assert held.exit_code == done.exit_code == 0
    assert held.stdout.splitlines()[-2:] == done.stdout.splitlines()[-2:]


def test_undecided_counts_as_told(ab, arms):
    (arms / "good2.toml").write_text("")
    done = ab("--margin", 0.05, "--sequential", "--undecided", "pass", b="good2", suite="few")
    assert done.exit_code == 0
    assert done.stdout.endswith("UNDECIDED (counts as pass: --undecided pass)\n")
    assert (
        "8 tasks can show a clear difference, but not that the second arm is just as good, within 0.05" in done.stderr
    )


def test_a_margin_without_evidence_is_held_by_bounds_in_the_end(ab):
    done = ab("--margin", 0.05, suite="few")
    assert done.exit_code == 1
    assert "FAIL       pass^1 no more than 0.05 below good, if you rerun this suite: -1.000" in done.stdout


def test_json_holds_all(ab):
    done = ab("--margin", 0.05, "--sequential", "--json")
    document = json.loads(done.stdout)
    assert (document["verdict"], document["exit_code"], done.exit_code) == ("FAIL", 1, 1)
    assert [run["name"] for run in document["runs"]] == ["good", "poor"]
    assert document["sequential"]["design"]["margin"] == 0.05
    assert len(document["sequential"]["looks"]) == len(document["comparison"]["tasks"])
    compared = json.loads(ab("--json").stdout)
    assert (compared["verdict"], compared["sequential"], compared["exit_code"]) == (None, None, 0)


def test_an_impossible_design_is_refused_before_anything_is_run(ab, home):
    done = ab("--margin", 0.05, "--sequential", suite="three")
    assert done.exit_code == 2
    assert "cannot be decided with 3 tasks" in done.stderr
    assert "needed: 6 or more" in done.stderr
    assert not home.exists()


def test_an_arm_that_was_run_alone_is_the_baseline(ab, call, arms):
    assert call("run", f"{arms / 'arm_suite.py'}:few", "--run", "good", "--trials", 2).exit_code == 0
    done = ab(suite="few")
    assert done.exit_code == 0
    assert "good: 16 trials (16 from before)" in done.stderr
    assert "16 trials of good were made before those beside them: what drifted meanwhile looks like" in done.stderr


def test_programs_differ_by_their_environment(call, tmp_path, home):
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nimport trialtape as tt\n\n@tt.tool(effect='read')\ndef look(mood):\n    return mood\n\n"
        "look(os.environ['MOOD'])\n"
    )
    for name in ("calm", "wild"):
        (tmp_path / f"{name}.toml").write_text(f'[env]\nMOOD = "{name}"\nSHOP_API_KEY = "secret-of-{name}-1"\n')
    pair = ["--ab", tmp_path / "calm.toml", tmp_path / "wild.toml"]
    done = call("run", *pair, "--trials", 1, "--", sys.executable, program)
    assert "the arms cannot be compared" in done.stderr
    assert done.exit_code == 0
    shown = call("show", "wild/main#0").stdout
    assert '{"mood": "wild"}' in shown
    assert "secret-of" not in (home / "cassettes" / "wild" / "run.json").read_text()
    assert call("verify", "wild").exit_code == 0
    assert call("verify", "calm").exit_code == 0
    held = call("run", *pair, "--trials", 1, "--margin", 0.1, "--", sys.executable, program)
    assert held.exit_code == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--run", "x"], "name the run with --run, or two arms with --ab: exactly one of them"),
        (["--sequential"], "--sequential needs --margin"),
        (["--undecided", "pass"], "--undecided needs --margin"),
        (["--margin", 0.1, "-k", 4, "--sequential"], "k = 4 needs as many trials of every task, and 2 are planned"),
        (["--margin", 0.1, "-k", 4], "k = 4 needs as many trials of every task, and 2 are planned: --trials 4"),
        (["-k", 1, "-k", 4], "k = 4 needs as many trials of every task, and 2 are planned: --trials 4"),
        (["--task", "t1"], "--task goes with a program"),
    ],
)
def test_what_does_not_go_together_is_refused(ab, home, options, why):
    done = ab(*options)
    assert done.exit_code == 2
    assert why in done.stderr
    assert not home.exists()


def test_options_of_arms_go_with_arms(call, arms):
    suite = arms / "arm_suite.py"
    assert "--margin goes with --ab" in call("run", suite, "--run", "x", "--margin", 0.1).stderr
    assert "-k goes with --ab" in call("run", suite, "--run", "x", "-k", 2).stderr
    assert "exactly one of them" in call("run", suite).stderr
    assert "no setting 'gos'; did you mean 'goes'?" in _with_typo(call, arms).stderr


def test_one_file_is_no_pair(call, arms):
    done = call("run", arms / "arm_suite.py", "--ab", arms / "good.toml", "--trials", 4)
    assert done.exit_code == 2
    assert "two files are needed, A.toml B.toml, and '--trials' is none; name both arms" in done.stderr


def _with_typo(call, arms):
    (arms / "typo.toml").write_text("[settings]\ngos = 1\n")
    return call("run", arms / "arm_suite.py", "--ab", arms / "good.toml", arms / "typo.toml")


# -- what takes a run takes that of an arm -----------------------------------------------------------------------------


@pytest.fixture
def by_other_code(ab, arms):
    """Two arms, of which the second has an agent of its own."""
    (arms / "candidate_of_an_arm.py").write_text(
        "from arm_suite import look\n\ndef agent(trial):\n    look('well')\n    look('done')\n"
    )
    (arms / "other.toml").write_text('agent = "candidate_of_an_arm.py"\n')
    assert ab(b="other", suite="three").exit_code == 0


def test_the_agent_of_an_arm_is_verified_and_forked_as_what_it_is(by_other_code, call, arms):
    done = call("verify", "other", "good")
    assert (done.exit_code, done.stdout) == (0, "12 trials: 12 identical\n")
    assert call("fork", "other/t1#0", "--at", 1, "-n", 1, "--run", "forked").exit_code == 0
    assert "done" in call("show", "forked/t1#0").stdout
    refused = call("export", "other/t1#0", "--to", "pytest", "-o", arms / "tests")
    assert refused.exit_code == 2
    assert "candidate_of_an_arm.py, not that of" in refused.stderr


def test_a_fork_goes_on_under_the_settings_of_its_arm(ab, call):
    assert ab(suite="three").exit_code == 0
    assert call("fork", "poor/t1#0", "--at", 0, "-n", 1, "--run", "forked").exit_code == 0
    assert "badly" in call("show", "forked/t1#0").stdout


def test_arms_whose_trials_need_processes_of_their_own_get_their_settings_there(call, arms):
    (arms / "drawing_suite.py").write_text(
        "import random\nimport trialtape as tt\n\n@tt.tool(effect='read')\ndef look(what, number):\n    return what\n\n"
        "def agent(trial):\n    look(trial.settings['goes'], random.random())\n\n"
        "suite = tt.Suite([tt.Task(id='t')], agent, [lambda view: True], settings={'goes': 'well'})\n"
    )
    (arms / "agent_that_draws.py").write_text(
        "import random\nfrom drawing_suite import look\n\ndef agent(trial):\n    look('otherwise', random.random())\n"
    )
    (arms / "drawn.toml").write_text('agent = "agent_that_draws.py"\n')
    pair = ["--ab", arms / "poor.toml", arms / "drawn.toml"]
    done = call("run", arms / "drawing_suite.py", *pair, "--trials", 1, "--ambient", "random", "-j", 2)
    assert done.exit_code == 0
    assert '"what": "badly"' in call("show", "poor/t#0").stdout
    assert '"what": "otherwise"' in call("show", "drawn/t#0").stdout
    assert call("verify", "poor", "drawn").exit_code == 0


@pytest.mark.parametrize("how", [(), ("--sequential",)])
def test_a_margin_for_harm_is_refused_before_anything_is_run(ab, home, how):
    done = ab("--margin", 0.05, *how, suite="harm")
    assert done.exit_code == 2
    assert "attack_success@1 tells harm" in done.stderr
    assert not Home(home).run("good").exists()
