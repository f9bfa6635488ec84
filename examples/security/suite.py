"""One suite for each defence, on the same tasks: `trialtape run examples/security/suite.py:delimiting --run ...`."""

import trialtape as tt
from examples.security import agent
from examples.security.tasks import TASKS

undefended = tt.Suite(TASKS, agent.undefended)
delimiting = tt.Suite(TASKS, agent.delimiting)
repeating = tt.Suite(TASKS, agent.repeating)
tool_filter = tt.Suite(TASKS, agent.tool_filter)
suite = undefended
