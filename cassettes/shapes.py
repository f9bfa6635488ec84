"""What a secret looks like in text: one pattern for each rule, and one fast look for all of them.

The patterns are of bytes, so that text, binary data, packed values and pieces of streams are treated alike, and a
letter beyond ASCII is never part of a word.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["FIELD", "LOOK", "PLACEHOLDER", "RULES"]

_NAME: Final = (
    rb"[a-z0-9_-]{0,40}(?:password|passwd|passphrase|secret|(?:api|access|private|secret)[_-]?key"
    rb"|(?:access|auth|refresh|bearer)[_-]?token|authorization)"
)
FIELD: Final = re.compile(_NAME, re.IGNORECASE)
"""Matches the whole name of a field or argument that holds a secret."""

PLACEHOLDER: Final = re.compile(rb"\{secret:[a-z_]+(?::[0-9a-f]{8})?\}")

# `"password": "..."` in JSON text, or in JSON text inside JSON text: there each quote, and each backslash of what is
# inside, stands behind the same backslashes as the quote that the name begins with.
_IN_JSON: Final = (
    rb"(?:(?<!\\)(?P<esc>\\{1,15}))?(?P<quote>[\"'])(?i:%(name)b)%(esc)b(?P=quote)\s*[:=]\s*%(esc)b(?P<open>[\"'])"
    rb"(?P<secret>(?:(?!%(esc)b(?P=open))(?:%(esc)b\\(?:%(esc)b.|[^\\])|.))+)"
) % {b"name": _NAME, b"esc": rb"(?(esc)(?P=esc))"}

# `api_key=...` in the query of a URL, or in a form: at the beginning of a text, or behind what stands before a pair.
# What begins as `{key}` or `$KEY` will be the secret some day, and is none yet.
_IN_QUERY: Final = rb"(?:\A|[?&\"'])(?=[A-Za-z0-9_-]+=)(?i:%(name)b)=(?P<secret>(?![{$])[^\s&#\"'<>\\]+)" % {
    b"name": _NAME
}


def _word(head: bytes, rest: bytes) -> bytes:
    """A secret that begins with ``head`` at the beginning of a word; in JSON text that may be a line break's ``n``.

    What stands before is looked at after ``head`` has been found, which the regex engine does quickly.
    """
    begins = rb"(?:(?<![A-Za-z0-9_]%b)|(?<=\\[nrtbf]%b)|(?<=\\u[0-9A-Fa-f]{4}%b))" % (head, head, head)
    return rb"(?P<secret>" + head + begins + rest + rb")"


# Each rule: its name, and a pattern whose group ``secret`` is replaced. The first of two that overlap names the secret.
RULES: Final[tuple[tuple[str, bytes], ...]] = (
    ("field", _IN_JSON),
    ("field", _IN_QUERY),
    (
        "private_key",
        rb"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z))",
    ),
    ("url", rb":(?:\\?/){2}[^/\s:@\"']*:(?P<secret>[^/\s:@\"']{3,})@"),
    ("bearer", rb"(?i:bearer)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
    ("jwt", _word(rb"eyJ", rb"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("openai", _word(rb"sk-", rb"[A-Za-z0-9_-]{16,}")),
    ("stripe", _word(rb"[srp]k_", rb"(?:live|test)_[0-9A-Za-z]{10,}")),
    ("github", _word(rb"gh[pousr]_", rb"[A-Za-z0-9]{20,}")),
    ("github", _word(rb"github_pat_", rb"[A-Za-z0-9_]{20,}")),
    ("aws", _word(rb"A[KS]IA", rb"[0-9A-Z]{16}(?![A-Za-z0-9_])")),
    ("google", _word(rb"AIza", rb"[0-9A-Za-z_-]{30,}")),
    ("slack", _word(rb"xox[abposr]-", rb"[0-9A-Za-z-]{10,}")),
    ("huggingface", _word(rb"hf_", rb"[A-Za-z0-9]{30,}")),
)


def _either_case(letter: str, rest: str) -> str:
    """``rest`` after ``letter`` in both cases; ``~`` in it stands for the letter."""
    return "|".join(case + rest.replace("~", case) for case in (letter, letter.upper()))


# Finds every text that a rule could change, and few more. Each way begins with one letter that is rare in text, which
# the regex engine looks for quickly; what stands before it is looked at from there.
LOOK: Final = re.compile(
    "|".join(
        (
            r"-(?<=sk-)[A-Za-z0-9_-]{16}",
            r"-(?<=xox[abposr]-)",
            r"-(?=----BEGIN )",
            r"_(?<=[srp]k_)(?:live|test)_",
            r"_(?<=gh[pousr]_)|_(?<=_pat_)|_(?<=hf_)[A-Za-z0-9]{30}",
            r":\\?/\\?/[^/\s:@\"']*:[^/\s:@\"']{3,}@",
            r"A(?:KIA|SIA)[0-9A-Z]{16}",
            r"z(?<=AIz)",
            r"J(?<=eyJ)[A-Za-z0-9_-]{10}",
            _either_case("b", r"(?i:earer)\s"),
            _either_case("w", r"(?<=(?i:pass)~)(?i:ord|d)"),
            _either_case("p", r"(?<=(?i:pass)~)(?i:hrase)"),
            _either_case("c", r"(?<=(?i:se)~)(?i:ret)"),
            _either_case("k", r"(?:(?<=(?i:api|ess|ate|ret)~)|(?<=(?i:api|ess|ate|ret)[_-]~))(?i:ey)"),
            _either_case("k", r"(?:(?<=(?i:ssto|thto|shto|erto)~)|(?<=(?i:s|h|r)[_-](?i:to)~))(?i:en)"),
            _either_case("z", r"(?<=(?i:authori)~)(?i:ation)"),
        )
    ).encode()
)
