"""The Jinja environment: it escapes every text and makes invisible characters visible."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from publish.community.disputable_lines import is_disputable
from publish.disclosure import UNDER_DISCLOSURE
from publish.site import receipt_rows
from publish.text.display import make_visible, render_inline_code
from publish.text.numbers import base_weight_share, format_number, format_percent, format_signed
from publish.views.evidence.server import RAW_LIMIT, MultilineText
from publish.views.glossary import anchor, define
from publish.views.line_groups import separate_lines
from publish.views.server_summary import has_thin_evidence, receipt_lines
from scoring.named_corpora import find_percentile
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import read_verdict

NAME_LIMIT: Final = 160

_OWN_ADDRESS: Final = re.compile(
    r"(?:/(?:servers/|compare\?server=))?srv_[0-9a-f]{20}(?:(?:/[a-z]{1,12}){1,2}|/receipts/[a-z_]{1,16}@[0-9]{1,3})?"
    r"(?:#[a-z]{1,12})?"
)
"""The id of a server and the addresses of its pages: without room for a secret, or a character to escape."""

_RECEIPT_DEFAULTS: Final[Mapping[str, object]] = {
    "rule_page": lambda rule: "",
    "receipt_page": lambda card: "",
    "method_page": lambda rubric, version: "",
    "disputed": {},
    "disputes_page": "",
    "dispute_form": "",
}
"""The defaults of a receipt: no links."""

_ROWS: Final[Mapping[str, object]] = {
    "group_rows": receipt_rows.render_group_rows,
    "separate_lines": separate_lines,
    "dimension_rows": receipt_rows.render_dimension_rows,
    "dots": receipt_rows.render_dots,
    "night_rows": receipt_rows.render_run_rows,
}
"""Table rows that are rendered without a template."""


def environment() -> Environment:
    """An environment that escapes every text and makes invisible characters visible."""
    jinja = Environment(
        loader=PackageLoader("publish", "site"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "number": format_number,
        "signed": format_signed,
        "percent": format_percent,
        "base_share": base_weight_share,
        "capitalize_first": _capitalize_first,
        "coded": render_inline_code,
        "multiline": MultilineText,
        "short": _short,
    }
    jinja.tests["not_measured"] = lambda value: isinstance(value, NotMeasured)
    jinja.tests["thin"] = has_thin_evidence
    jinja.tests["disputable"] = is_disputable
    jinja.globals["list_caps"] = _list_caps
    jinja.globals["percentile"] = find_percentile
    jinja.globals["has_lines"] = lambda card: next(receipt_lines(card), None) is not None
    jinja.globals["term"] = _explain_term
    jinja.globals |= {**_RECEIPT_DEFAULTS, **_ROWS}
    return jinja


def _finalize(value: object) -> object:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if _OWN_ADDRESS.fullmatch(value):
        return Markup(value)  # noqa: S704  a scan for secrets costs more than the rest of a link
    if isinstance(value, MultilineText):
        return make_visible(value, limit=2 * RAW_LIMIT, multiline=True)
    return _show_cached(value) if len(value) <= NAME_LIMIT else make_visible(value)


@lru_cache(maxsize=8_192)
def _show_cached(text: str) -> str:
    """Cached, since ids and messages repeat on every line of a receipt."""
    return make_visible(text)


def _short(text: str) -> str:
    return _show_cached(text) if len(text) <= NAME_LIMIT else make_visible(text, limit=NAME_LIMIT)


@cache
def _explain_term(term: str, shown: str = "") -> Markup:
    """A term as a link to the glossary, with its definition as a tip; `shown` is its form in a sentence."""
    link = Markup('<a class="term" href="/glossary#{}" title="{}">{}</a>')
    return link.format(anchor(term), define(term), shown or term)


def _list_caps(card: Scorecard) -> list[str]:
    """What caps a grade, a finding under disclosure first."""
    return sorted(read_verdict(card).caps, key=lambda why: why != UNDER_DISCLOSURE)


def _capitalize_first(text: str) -> str:
    return text[:1].upper() + text[1:]
