"""A written page, read as a browser without scripts would."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "img", "input", "hr", "col", "base"}


class Page(HTMLParser):
    """The elements of a page, what stands in its scripts, and the text that is seen."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements = []
        self.data = {}
        self.open = []
        self.texts = []
        self.problems = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in _VOID:
            self.open.append((tag, attributes))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
            return
        self.open.pop()

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ("", {})
        if inside[0] in {"script", "style"}:
            self.data[inside[1].get("id", inside[0])] = data
        else:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag, **wanted):
        return [a for t, a in self.elements if t == tag and all(a.get(k) == v for k, v in wanted.items())]

    @property
    def policy(self):
        (meta,) = [a for a in self.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
        return meta["content"]

    def json(self, name):
        return json.loads(self.data[name])

    def trials(self):
        """The packed trials, whole, by number."""
        shared = _unpacked(self.data["shared"])
        found = {}
        for _, group, place, _, number in self.json("index"):
            found[number] = _whole(_unpacked(self.data[f"group-{group}"])[place], shared)
        return found

    def links(self):
        return [a["href"] for a in self.all("a")]

    def ids(self):
        return [a["id"] for _, a in self.elements if "id" in a]


def _unpacked(text):
    return json.loads(gzip.decompress(base64.b64decode(text)))


def _whole(value, shared):
    if isinstance(value, list):
        return [_whole(item, shared) for item in value]
    if isinstance(value, dict):
        return shared[value["$s"]] if list(value) == ["$s"] else {k: _whole(v, shared) for k, v in value.items()}
    return value


def outside(html):
    """Addresses in the page that lead out of it; the name of a namespace is none."""
    found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'<>)]*", html)
    return [address for address in found if "www.w3.org" not in address]
