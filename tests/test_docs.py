"""What the documentation shows is what happens: doctests of the pages and of every docstring."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import yardline

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NOT_IMPORTED = ("yardline.__main__",)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages(page, monkeypatch, tmp_path, clean_registry):
    if not page.exists():
        pytest.skip("not written yet")
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert failed == 0


def modules():
    names = (m.name for m in pkgutil.walk_packages(yardline.__path__, "yardline."))
    return sorted(name for name in names if name not in NOT_IMPORTED)


@pytest.mark.parametrize("name", modules())
def test_docstrings(name):
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), f"{name} does not say what it is for"
    failed, _ = doctest.testmod(module, optionflags=OPTIONS)
    assert failed == 0


def test_links_between_pages_lead_somewhere():
    import re

    for page in PAGES:
        if not page.exists():
            continue
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
