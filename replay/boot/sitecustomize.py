# ruff: noqa: INP001  # a folder on PYTHONPATH, no package
"""Python imports this at its start, in each process of a recorded command: it joins the trial, if there is one.

Only the standard library is used until there is a trial to join. The folder of this file stands first on PYTHONPATH,
where `replay.processes.commands` put it, or on the path by `replay.at_start` where Python ignores that; the program's
own sitecustomize, which it hides, is run afterwards.
"""

import os
import sys


def _join() -> None:
    if not (os.environ.get("TRIALTAPE_INVITATION") or os.environ.get("TRIALTAPE_BOUNDARY")):
        return
    if "replay.processes.joining" in sys.modules:
        return  # site may run this twice
    try:
        from replay.processes.joining import join_trial  # noqa: PLC0415  # nothing of ours is loaded without a trial

        join_trial(os.environ)
    except Exception as error:  # noqa: BLE001  # whatever it is, a program that is not recorded must not run on
        sys.stderr.write(f"trialtape: {sys.executable} cannot record this process: {type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(125)


def _hidden() -> None:
    """Run the sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # pathlib is not worth its import here
    if sys.flags.ignore_environment and here in sys.path:  # an isolated program finds its path as it would be
        sys.path.remove(here)
    for folder in sys.path:
        if os.path.abspath(folder or ".") == here:  # noqa: PTH100
            continue
        file = os.path.join(folder or ".", "sitecustomize.py")  # noqa: PTH118
        if os.path.isfile(file):  # noqa: PTH113
            with open(file, "rb") as source:  # noqa: PTH123
                code = compile(source.read(), file, "exec")
            exec(code, {"__name__": "sitecustomize", "__file__": file})  # noqa: S102  # as site would have done
            return


_join()
_hidden()
