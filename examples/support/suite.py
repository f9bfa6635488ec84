"""The suite that `trialtape run examples/support/suite.py` runs."""

import trialtape as tt
from examples.support.agent import MODEL, TEMPERATURE, run_agent
from examples.support.tasks import TASKS

suite = tt.Suite(tasks=TASKS, agent=run_agent, settings={"model": MODEL, "temperature": TEMPERATURE})
