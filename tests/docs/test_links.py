"""Links inside the project lead somewhere."""

from __future__ import annotations

import pytest

from tests.docs.documents import PAGES, ROOT, anchors, links, name_of


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page):
    for target in links(page):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{target} does not exist"
        assert found.is_relative_to(ROOT), f"{target} leaves the project"
        if anchor:
            assert anchor in anchors(found), f"{found.name} has no heading for #{anchor}"


def test_every_page_of_the_docs_is_on_the_map():
    index = ROOT / "docs" / "index.md"
    mapped = {(index.parent / target.partition("#")[0]).resolve() for target in links(index)}
    assert {page for page in (ROOT / "docs").rglob("*.md") if page != index} <= mapped
