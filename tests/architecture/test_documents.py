"""Rules of the documents: decisions are short, listed and exist where they are cited; documents stay within bounds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"
SECTIONS = ["Status", "Context", "Decision", "Consequences"]
WORDS_OF_A_DECISION = 450
WORDS_OF_ALL_DECISIONS = 20_000
WORDS_OF_ALL_DOCUMENTS = 60_000
CITATION = re.compile(r"decisions?[/ ](\d{4})", re.IGNORECASE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
BELOW_HEADER = re.compile(r"\|(?: *:?-+:? *\|)+")
TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".j2", ".css", ".sh", ".service", ".target", ".sql", ""}


@cache
def _tracked() -> tuple[Path, ...]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if listed:
        found = [ROOT / name for name in listed.split("\0") if name]
    else:
        folders = ("crawler", "evidence", "scoring", "publish", "workers", "tests", "bench", "infra", "docs")
        found = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    return tuple(path for path in found if path.suffix in TEXT and path.is_file())


def _decisions() -> list[Path]:
    return sorted(DECISIONS.glob("[0-9]*.md"))


def _words(path: Path) -> int:
    return len(path.read_text("utf-8").split())


def missing_citations(text: str, known: set[str]) -> list[str]:
    """The numbers of decisions that a text cites and that do not exist."""
    return [number for number in CITATION.findall(text) if number not in known]


def broken_links(page: Path, text: str) -> list[str]:
    """The relative links of a page that lead to no file."""
    targets = [unquote(link.split("#")[0]) for link in LINK.findall(text) if not re.match(r"[a-z]+:|#", link)]
    return [target for target in targets if not (page.parent / target).exists()]


def uneven_headers(text: str) -> list[str]:
    """The headers with more or fewer cells than the line below them, which are shown as text and not as a table."""
    return [
        header
        for header, below in pairwise(text.splitlines())
        if BELOW_HEADER.fullmatch(below) and len(re.findall(r"(?<!\\)\|", header)) != below.count("|")
    ]


def test_every_cited_decision_exists() -> None:
    known = {path.name[:4] for path in _decisions()}
    wrong = {
        path.relative_to(ROOT).as_posix(): missing
        for path in _tracked()
        if path != Path(__file__).resolve() and (missing := missing_citations(path.read_text(errors="replace"), known))
    }
    assert wrong == {}


def test_a_missing_decision_is_noticed() -> None:
    assert missing_citations("see docs/decisions/9999 and Decision 0001", {"0001"}) == ["9999"]


def test_a_decision_has_its_sections_and_at_most_450_words() -> None:
    for path in _decisions():
        text = path.read_text("utf-8")
        assert text.startswith(f"# {path.name[:4]} "), f"{path.name}: the title begins with the number"
        assert re.findall(r"(?m)^## (.+)$", text) == SECTIONS, path.name
        assert _words(path) <= WORDS_OF_A_DECISION, f"{path.name}: {_words(path)} words"


def test_the_index_lists_every_decision_with_its_title() -> None:
    titles = [path.read_text("utf-8").partition("\n")[0].removeprefix("# ") for path in _decisions()]
    expected = [
        f"| {title[:4]} | [{title[5:]}]({path.name}) |" for path, title in zip(_decisions(), titles, strict=True)
    ]
    index = (DECISIONS / "README.md").read_text("utf-8").splitlines()
    assert [line for line in index if re.match(r"\| \d", line)] == expected


def test_numbers_of_decisions_are_unique() -> None:
    numbers = [path.name[:4] for path in _decisions()]
    assert len(set(numbers)) == len(numbers)


def test_documents_stay_short_enough_to_be_read() -> None:
    pages = [path for path in DOCS.rglob("*.md") if DOCS / "rules" not in path.parents]
    assert sum(_words(path) for path in pages) <= WORDS_OF_ALL_DOCUMENTS
    assert sum(_words(path) for path in DECISIONS.glob("*.md")) <= WORDS_OF_ALL_DECISIONS


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    wrong = {
        page.relative_to(ROOT).as_posix(): broken for page in pages if (broken := broken_links(page, page.read_text()))
    }
    assert wrong == {}


def test_a_broken_link_is_noticed() -> None:
    assert broken_links(DOCS / "x.md", "[a](missing.md#b) [c](https://example.com) [d](#e)") == ["missing.md"]


def test_headers_of_tables_have_a_cell_for_every_column() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    wrong = {
        page.relative_to(ROOT).as_posix(): uneven for page in pages if (uneven := uneven_headers(page.read_text()))
    }
    assert wrong == {}


def test_an_uneven_header_is_noticed() -> None:
    assert uneven_headers("| a | b |\n|---|:-:|---|\n| a \\| b |\n|---|\n") == ["| a | b |"]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder with this project's changelog, its configuration and two fragments."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "changes").mkdir()
    shutil.copy(ROOT / "changes" / "changelog.md.jinja", tmp_path / "changes")
    (tmp_path / "changes" / "first.feature.md").write_text("A first feature.\n")
    (tmp_path / "changes" / "second.fix.md").write_text("A fix.\n")
    return tmp_path


def _towncrier(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "towncrier", "build", "--version", "9.9.9", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_release_moves_fragments_into_the_changelog(release: Path) -> None:
    before = (release / "CHANGELOG.md").read_text()
    done = _towncrier(release, "--yes")
    assert done.returncode == 0, done.stderr
    after = (release / "CHANGELOG.md").read_text()
    head, _, rest = after.partition("## 9.9.9")
    assert before.startswith(head)
    assert re.search(r"### Features\n\n- A first feature\.\n\n### Fixes\n\n- A fix\.\n\n## ", rest)
    assert list((release / "changes").glob("*.md")) == []


def test_fragments_of_this_change_can_be_released() -> None:
    assert _towncrier(ROOT, "--draft").returncode == 0


def test_a_fragment_of_an_unknown_type_is_refused(release: Path) -> None:
    (release / "changes" / "wrong.nonsense.md").write_text("Something.\n")
    assert _towncrier(release, "--draft").returncode != 0
