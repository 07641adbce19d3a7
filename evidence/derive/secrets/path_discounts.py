"""Paths in a tree where a secret does not count, such as tests and examples."""

from __future__ import annotations

import re
from typing import Final

from evidence.compiled_on_use import compile_on_use
from evidence.kinds.secrets import Discount

_FOLDERS: Final = {
    Discount.VENDORED: compile_on_use(
        r"node_modules|bower_components|vendor|vendors|third[_\-]?party|external|site-packages|.+\.dist-info|.+\.egg-info"
        r"|\.venv|venv|\.yarn|pods|licen[cs]es?",
        re.IGNORECASE,
    ),
    Discount.TEST: compile_on_use(
        r"_*tests?_*|testing|test[_\-]?(?:data|files?|cases?|resources|utils|support|helpers)|__mocks__|mocks?|specs?|fixtures?|__fixtures__"
        r"|__snapshots__|snapshots|e2e|cypress|cassettes|testcontainers|.+[_\-.]tests?|integration[_\-]tests?",
        re.IGNORECASE,
    ),
    Discount.EXAMPLE: compile_on_use(r"examples?|samples?|demos?|tutorials?|playground|quickstarts?", re.IGNORECASE),
    Discount.DOCUMENTATION: compile_on_use(r"docs?|documentation|wiki|i18n|locales?", re.IGNORECASE),
}
_FILES: Final = {
    Discount.VENDORED: compile_on_use(
        r"(?:licen[cs]e|copying|notice|third[_\-]?party[_\-]?\w*|patents)(?:[._\-].*)?"
        r"|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|(?:poetry|uv|pdm|pipfile|cargo|gemfile|composer|flake|deno)\.lock"
        r"|go\.sum|packages\.lock\.json",
        re.IGNORECASE,
    ),
    Discount.TEST: compile_on_use(
        r"test_.+\.\w+|.+[_\-]tests?\.\w+|.+\.(?:test|tests|spec|e2e|stories|fixture|mock|snap)(?:\.\w+)?|conftest\.py|.+(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|swift|php)"
    ),
    Discount.EXAMPLE: compile_on_use(
        r".+[._\-](?:example|sample|template|dist|tmpl|tpl|default)(?:\.\w+)?|(?:example|sample|demo)s?[._\-].+",
        re.IGNORECASE,
    ),
    Discount.DOCUMENTATION: compile_on_use(
        r".+\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt\.gz|po|pot|ipynb\.md)|(?:readme|changelog|changes|history|contributing|security|authors)(?:\..*)?",
        re.IGNORECASE,
    ),
}


def find_path_discount(path: str) -> Discount | None:
    """Why no secret in this file counts; None when secrets count. The path is relative to the tree."""
    *folders, name = [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}] or [""]
    for reason, pattern in _FOLDERS.items():
        if any(pattern.fullmatch(folder) for folder in folders):
            return reason
    return next((reason for reason, pattern in _FILES.items() if pattern.fullmatch(name)), None)
