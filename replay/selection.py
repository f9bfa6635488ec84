"""Which trial is meant: by id, by path, ``@last`` or ``@last-fail``."""

from __future__ import annotations

from cassettes.errors import BadInput

from .home import Home
from .store import Store
from .view import View, open_trial

__all__ = ["find_trial"]

_LAST = "SELECT id FROM trials ORDER BY began DESC, id DESC LIMIT 1"
_LAST_FAIL = """
SELECT t.id FROM trials t
LEFT JOIN runs r ON r.name = t.run
LEFT JOIN scores s ON s.trial = t.id AND s.scorer || '@' || s.version = r.primary_score
WHERE t.ending IN ('capped') OR (t.ending = 'error' AND t.cause = 'agent') OR (t.ending = 'completed' AND s.passed = 0)
ORDER BY t.began DESC, t.id DESC LIMIT 1
"""


def find_trial(text: str, home: Home) -> View:
    """Open the trial that is meant.

    Raises:
        BadInput: there is none.
        CassetteError: its file cannot be read.
    """
    if not text.startswith("@"):
        return open_trial(text, home)
    if text not in {"@last", "@last-fail"}:
        raise BadInput(f"{text!r} names no trial; use run/task#index, a path, @last or @last-fail")
    with Store(home) as store:
        store.refresh()
        rows = store.rows(_LAST if text == "@last" else _LAST_FAIL)
    if not rows:
        raise BadInput(f"there is no {'failed ' if text == '@last-fail' else ''}trial in {home.root}")
    return open_trial(rows[0]["id"], home)
