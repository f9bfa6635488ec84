"""The demo: one agent, three defences, the same attacks, and what each defence buys and costs.

Run it with `python -m examples.security.demo` from the root of the repository.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from examples.security.model import DeskModel
from examples.support.server import serving

ROOT = Path(__file__).parents[2]
HOME = Path(".trialtape", "security")
DEFENCES = ("undefended", "delimiting", "repeating", "tool_filter")
SEED = 7


def main(arguments: list[str] | None = None) -> int:
    """Run every defence, and compare them; the first command that fails ends it with its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.security.demo", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--trials", type=int, default=4, help="of each task, under each defence")
    parser.add_argument("--home", type=Path, default=HOME, help="where the recordings go; made anew")
    options = parser.parse_args(arguments)
    shutil.rmtree(ROOT / options.home, ignore_errors=True)
    with serving(provider=DeskModel(SEED)) as server:
        env = os.environ | {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-any-key-will-do"}
        for defence in DEFENCES:
            suite = f"examples/security/suite.py:{defence}"
            many = ["--trials", str(options.trials), "--concurrency", "4"]
            code = _trialtape(options.home, ["run", suite, "--run", defence, *many], env)
            if code != 0:
                return code
    return _trialtape(options.home, ["lab", "security", *DEFENCES], dict(os.environ))


def _trialtape(home: Path, words: list[str], env: dict[str, str]) -> int:
    print(f"\n$ trialtape {' '.join(words)}", flush=True)
    command = [sys.executable, "-m", "replay", "--home", str(home), *words]
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
