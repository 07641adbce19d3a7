"""Renders the verdicts of one scan as JUnit XML: a test suite per section, a test case per check.

What the gate refuses is a failure, and what could not be measured an error, so that a build which reads the file ends
as one which reads the exit code. Other deviations are passed cases with their message in `system-out`. Inapplicable and
inconclusive checks are skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from publish.scan_reports.findings import list_untolerated
from publish.scan_reports.gate import GateDecision
from publish.text.display import make_visible
from publish.views.evidence.check_verdicts import CheckSection, CheckVerdicts
from scoring.protocol.conformance import CheckResult, Verdict

_SKIPPED = {Verdict.NOT_APPLICABLE: "does not apply", Verdict.INCONCLUSIVE: "inconclusive"}


def render_junit(found: CheckVerdicts, decision: GateDecision, server: str) -> bytes:
    """One XML document; `server` names what was tested."""
    root = ET.Element("testsuites", attrib={"name": _text(f"MCP conformance of {server}")})
    root.append(_suite("Server", _server_cases(decision, server)))
    for section in found.sections:
        root.append(_suite(section.title, (_case(section, result, decision, server) for result in section.results)))
    root.attrib.update(_count(root))
    ET.indent(root)
    rendered: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return rendered + b"\n"


def _suite(title: str, cases: Iterator[ET.Element]) -> ET.Element:
    suite = ET.Element("testsuite", attrib={"name": title})
    suite.extend(cases)
    suite.attrib.update(_count(suite))
    return suite


def _server_cases(decision: GateDecision, server: str) -> Iterator[ET.Element]:
    """Whether the server could be tested, each score with a minimum, and findings of a refused severity that no check
    below has.
    """
    classname = _text(f"{server}.Server")
    case = ET.Element("testcase", name="the server can be tested", classname=classname)
    if decision.untested:
        ET.SubElement(case, "error", type="not_measured", message=_text(decision.untested))
    yield case
    for score in decision.scores:
        name = f"{score.rubric} is at least {decision.gate.minimum}"
        case = ET.Element("testcase", name=name, classname=classname)
        if score.why:
            kind = "error" if score.is_our_failure else "failure"
            ET.SubElement(case, kind, type="score", message=_text(score.why))
        yield case
    violations = {(one.rule, one.at, one.message) for result in decision.violated for one in list_untolerated(result)}
    for found in decision.found:
        if found.key not in violations:
            case = ET.Element("testcase", name=_text(f"{found.rule} {found.at}"), classname=classname)
            ET.SubElement(case, "failure", type=found.grade.value, message=_text(found.message))
            yield case


def _case(section: CheckSection, result: CheckResult, decision: GateDecision, server: str) -> ET.Element:
    requirement = result.check.requirement
    name = f"{requirement.id} {result.check.rule.title}"
    case = ET.Element("testcase", name=name, classname=_text(f"{server}.{section.title}"))
    findings_text = "\n".join(f"{finding.at}: {finding.message}" for finding in result.findings)
    if result in decision.violated:
        first = list_untolerated(result)[0].message
        failure = ET.SubElement(case, "failure", type=requirement.level.value, message=_text(first))
        failure.text = _text(f"{findings_text}\n{requirement.link}")
    elif result.verdict in _SKIPPED:
        ET.SubElement(case, "skipped", message=_text(": ".join(filter(None, (_SKIPPED[result.verdict], result.why)))))
    elif findings_text:
        level = f"{requirement.level} ({'tolerated' if not list_untolerated(result) else 'not demanded'})"
        ET.SubElement(case, "system-out").text = _text(f"{level}\n{findings_text}\n{requirement.link}")
    return case


def _count(element: ET.Element) -> dict[str, str]:
    """The number of cases below an element, and of those with each outcome."""
    counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    return {name: str(sum(1 for _ in element.iter(tag))) for name, tag in counted.items()}


def _text(text: str) -> str:
    """Untrusted text without characters that XML 1.0 forbids."""
    return make_visible(text, multiline=True)
