"""The licence that a package declares, as an SPDX expression where it is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crawler.collectors.package.document_fields import Members, as_object, as_plain_text
from evidence.canonical import Json

LONGEST: Final = 100  # characters; a longer text is a licence's text and not its name
_PREFIX: Final = "License :: "
# Trove classifiers that name exactly one licence.
_CLASSIFIERS: Final[Mapping[str, str]] = {
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "GNU Affero General Public License v3": "AGPL-3.0-only",
    "GNU Affero General Public License v3 or later (AGPLv3+)": "AGPL-3.0-or-later",
    "Boost Software License 1.0 (BSL-1.0)": "BSL-1.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "zlib/libpng License": "Zlib",
    "CC0 1.0 Universal (CC0 1.0) Public Domain Dedication": "CC0-1.0",
    "Eclipse Public License 2.0 (EPL-2.0)": "EPL-2.0",
}


def npm_licence(manifest: Members) -> str | None:
    """`license` of package.json, or its older forms: an object, or a list under `licenses`."""
    declared = manifest.get("license", manifest.get("licence"))
    if isinstance(declared, str):
        return _name(declared)
    older = manifest.get("licenses")
    entries = [declared] if declared is not None else older if isinstance(older, list) else []
    found = [name for entry in entries if (name := _entry(entry))]
    return _name(found[0] if len(found) == 1 else f"({' OR '.join(found)})") if found else None


def python_licence(info: Members) -> str | None:
    """PEP 639's expression, else the short text of `license`, else a classifier."""
    if expression := _name(info.get("license_expression")) or _name(info.get("license")):
        return expression
    listed = info.get("classifiers")
    texts = [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
    found = [text.rsplit(" :: ", 1)[-1] for text in texts if text.startswith(_PREFIX)]
    named = [_CLASSIFIERS.get(text, text) for text in found if text != "OSI Approved"]
    return _name(named[0]) if named else None


def _entry(value: Json) -> str | None:
    return _name(value if isinstance(value, str) else as_object(value).get("type") or as_object(value).get("name"))


def _name(value: Json) -> str | None:
    if not isinstance(value, str) or "\n" in value.strip() or len(value.strip()) > LONGEST:
        return None
    return as_plain_text(value, LONGEST)
