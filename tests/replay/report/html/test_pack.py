from __future__ import annotations

import base64
import gzip
import json

from hypothesis import given
from hypothesis import strategies as st

from replay.report.html.pack import as_json, content_hash, packed

LONG = "a policy that every trial is sent " * 20


def read(text):
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_what_is_packed_comes_back():
    groups = [[{"a": [1, None, True, "ü 漢"]}], [{"b": "c"}]]
    assert [read(group) for group in packed(groups).groups] == groups


def test_a_long_text_of_several_groups_is_kept_once():
    found = packed([[{"prompt": LONG}], [{"prompt": LONG, "more": ["own " * 100]}]])
    assert read(found.shared) == [LONG]
    assert [read(group) for group in found.groups] == [
        [{"prompt": {"$s": 0}}],
        [{"prompt": {"$s": 0}, "more": ["own " * 100]}],
    ]


def test_the_same_data_gives_the_same_bytes():
    groups = [[{str(i): LONG + str(i % 3)}] for i in range(9)]
    assert packed(groups) == packed(groups)


@given(st.lists(st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=5)))
def test_packed_data_holds_nothing_that_means_anything_in_html(values):
    found = packed([values])
    assert not set(found.shared + "".join(found.groups)) & set("<>&\"'`\n")


@given(st.text())
def test_json_in_a_script_element_cannot_end_it(text):
    told = as_json({"text": text, "hostile": "</script><!--&"})
    assert not set(told) & set("<>&\u2028\u2029")
    assert json.loads(told) == {"text": text, "hostile": "</script><!--&"}


def test_the_hash_is_what_a_browser_computes():
    # From the specification of Content Security Policy, section 2.3.1.
    assert content_hash("alert('Hello, world.');") == "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
