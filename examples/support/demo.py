"""The demo: record a stochastic agent, tell its reliability, and ask more of the recordings once the model is gone.

Run it with `make demo`, or `python -m examples.support.demo` from the root of the repository.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(".trialtape", "demo")
ROOT = Path(__file__).parents[2]
SUITE = "examples/support/suite.py"
SCORER = "examples/support/scorers.py:asked_before_writing"
SEED = 11


def main() -> int:
    """Run every command of the demo; the first that fails ends it with its exit code."""
    shutil.rmtree(ROOT / HOME, ignore_errors=True)
    try:
        with _provider() as base_url:
            env = os.environ | {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-any-key-will-do"}
            print(f"A stand-in for a model provider answers at {base_url} (examples/support/server.py).")
            _with_the_model(env)
        print("\nThe stand-in is shut down: from here on no model answers.")
        _without_the_model(env)
    except subprocess.CalledProcessError as failure:
        print(f"demo: the command above ended with exit code {failure.returncode}", file=sys.stderr)
        return failure.returncode
    except FileNotFoundError as missing:
        print(f"demo: no command {missing.filename!r} on the PATH; run `make demo`", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"\nAll of it is in {HOME}; `trialtape --home {HOME} ls` lists it.")
    return 0


def _with_the_model(env: dict[str, str]) -> None:
    many = "--trials 8 --concurrency 4"
    _heading("Record: 25 tasks, 8 trials of each, everything live.")
    _trialtape(f"run {SUITE} --run baseline {many}", env)
    _heading("How reliable is the agent? All of k trials right (pass^k), and at least one (pass@k).")
    _trialtape("stats baseline", env)
    _heading("The same suite in the recorded outside world: the model is live, quotes and stock are frozen.")
    _trialtape(f"run {SUITE} --run frozen --source baseline --freeze external {many}", env)
    _heading("How much of the noise is left when the outside stands still?")
    _trialtape("stats frozen", env)


def _without_the_model(env: dict[str, str]) -> None:
    _heading("Is the agent deterministic, given its answers? Every trial is replayed with everything frozen.")
    _trialtape("verify baseline", env)
    _heading("A new question to old trials: did the agent get a yes before it changed anything?")
    _trialtape(f"score baseline --with {SCORER}", env)
    _trialtape("stats baseline --score asked_before_writing", env)
    _heading("What went wrong? The last trial that failed, step by step.")
    _trialtape("show @last-fail", env)


def _heading(text: str) -> None:
    print(f"\n== {text}", flush=True)


def _trialtape(arguments: str, env: dict[str, str]) -> None:
    command = ["trialtape", "--home", str(HOME), *shlex.split(arguments)]
    print(f"$ {shlex.join(command)}", flush=True)
    subprocess.run(command, check=True, cwd=ROOT, env=env)


@contextlib.contextmanager
def _provider() -> Iterator[str]:
    """Run the stand-in as a process of its own, on a free port."""
    command = [sys.executable, "-m", "examples.support.server", "--port", "0", "--seed", str(SEED)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            if not line.startswith("listening on "):
                raise subprocess.CalledProcessError(process.wait() or 1, command)
            yield line.removeprefix("listening on ")
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
