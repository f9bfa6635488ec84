"""What the ``trialtape.pth`` in site-packages does in a process that belongs to a recorded command.

``python -I`` and ``python -E`` look at no PYTHONPATH, where `replay.processes.commands` puts the folder with our
`sitecustomize`. So the folder is put on the path here: Python imports `sitecustomize` later in its start, from wherever
it stands. In every other process the line in that file looks at two variables, and that is all. Only the standard
library is used.
"""

import os
import sys

__all__ = ["BOOT"]

BOOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot")  # noqa: PTH100, PTH118, PTH120  # as in the boot

if BOOT not in sys.path:  # as a rule PYTHONPATH has put it there
    sys.path.insert(0, BOOT)
