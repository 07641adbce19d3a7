"""Renders the verdicts of one scan as JUnit XML: a test suite per section, a test case per check.

A failed MUST is a failure. A warning is a passed case with its message in `system-out`, so that a build does not break
over what the specification only recommends. Inapplicable and inconclusive checks are skipped, with the reason.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from publish.text.display import make_visible
from publish.views.evidence.check_verdicts import CheckSection, CheckVerdicts
from scoring.protocol.conformance import CheckResult, Verdict

_SKIPPED = {Verdict.NOT_APPLICABLE: "does not apply", Verdict.INCONCLUSIVE: "inconclusive"}


def render_junit(found: CheckVerdicts, server: str) -> bytes:
    """One XML document; `server` names what was tested."""
    root = ET.Element("testsuites", attrib={"name": _text(f"MCP conformance of {server}"), **_totals(found.results)})
    for section in found.sections:
        root.append(_suite(section, server))
    ET.indent(root)
    rendered: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return rendered + b"\n"


def _suite(section: CheckSection, server: str) -> ET.Element:
    suite = ET.Element("testsuite", attrib={"name": section.title, **_totals(section.results)})
    for result in section.results:
        suite.append(_case(section, result, server))
    return suite


def _case(section: CheckSection, result: CheckResult, server: str) -> ET.Element:
    requirement = result.check.requirement
    name = f"{requirement.id} {result.check.rule.title}"
    case = ET.Element("testcase", name=name, classname=_text(f"{server}.{section.title}"))
    findings_text = "\n".join(f"{finding.at}: {finding.message}" for finding in result.findings)
    if result.verdict is Verdict.FAIL:
        first = result.findings[0].message
        failure = ET.SubElement(case, "failure", type=requirement.level.value, message=_text(first))
        failure.text = _text(f"{findings_text}\n{requirement.link}")
    elif result.verdict in _SKIPPED:
        ET.SubElement(case, "skipped", message=_text(": ".join(filter(None, (_SKIPPED[result.verdict], result.why)))))
    elif findings_text:
        ET.SubElement(case, "system-out").text = _text(
            f"{requirement.level} (warning)\n{findings_text}\n{requirement.link}"
        )
    return case


def _totals(results: tuple[CheckResult, ...]) -> dict[str, str]:
    failures = sum(result.verdict is Verdict.FAIL for result in results)
    skipped = sum(result.verdict in _SKIPPED for result in results)
    return {"tests": str(len(results)), "failures": str(failures), "errors": "0", "skipped": str(skipped)}


def _text(text: str) -> str:
    """Untrusted text without characters that XML 1.0 forbids."""
    return make_visible(text, multiline=True)
