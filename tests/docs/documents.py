"""The README and the docs as data: their blocks, links and anchors."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "docs" / "tutorial" / "first-run.md"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_EXECUTED = {
    "search-and-label.md",
    "simulate-a-user.md",
    "import-agentdojo.md",
    "import-conversations.md",
    "import-tau2.md",
    "import-toolemu.md",
    "measure-attacks.md",
    "reexecute-tool-calls.md",
}
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorial" or page.name in _EXECUTED]

_FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```\s*$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(?P<text>.+?) *$", re.MULTILINE)
_SEPARATORS = {"&&", "||", ";", "|", "&", ">", "2>"}


def name_of(page: Path) -> str:
    """The page's path inside the project, as the id of a test."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [match["text"] for match in _FENCE.finditer(page.read_text()) if match["language"] == language]


def transcript(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that stands below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def commands(page: Path) -> list[list[str]]:
    """The arguments of every simple command in the page's console blocks, less variables set before it."""
    found = []
    for block in blocks(page, "console"):
        for line, _ in transcript(block):
            words: list[str] = []
            for word in [*shlex.split(line, comments=True), ";"]:
                if word not in _SEPARATORS:
                    words.append(word)
                    continue
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words.pop(0)
                if words:
                    found.append(words)
                words = []
    return found


def inline_code(page: Path) -> list[str]:
    """The code spans of the page's text."""
    return _INLINE.findall(_FENCE.sub("", page.read_text()))


def links(page: Path) -> list[str]:
    """The targets of the page's links."""
    return [match["target"] for match in _LINK.finditer(_FENCE.sub("", page.read_text()))]


def anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as GitHub makes them."""
    seen: dict[str, int] = {}
    found = set()
    for match in _HEADING.finditer(_FENCE.sub("", page.read_text())):
        text = re.sub(r"[^\w\- ]", "", match["text"].replace("`", "").lower()).replace(" ", "-")
        found.add(f"{text}-{seen[text]}" if text in seen else text)
        seen[text] = seen.get(text, 0) + 1
    return found
