"""Scoring touches nothing: no file, socket, process or database while a dossier becomes scorecards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
from evidence.patterns.poisoning.required_words import load_required_words
from evidence.patterns.poisoning.resemblance import load_wording_model
from scoring import explain, receipt
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from tests.dossiers import captures, cases, recorded

dossiers = [*captures().values(), *cases().values(), *recorded().values()]
catalogue.list_questions(); catalogue.pinned_versions(); receipt._decoder()  # made once, of our own code
load_wording_model(); load_required_words()  # read once, of our own data
FORBIDDEN = ("open", "socket.", "subprocess.", "sqlite3.", "os.", "shutil.", "urllib.", "import", "exec", "compile")
touched = []
sys.addaudithook(lambda event, args: touched.append((event, str(args)[:80])) if event.startswith(FORBIDDEN) else None)
for dossier in dossiers[{part}]:
    assessment = assess_dossier(dossier)
    for rubric in catalogue.list_rubrics():
        card = rubric.score(assessment)
        receipt.recompute_score(receipt.decode_scorecard(receipt.encode_scorecard(card)))
        str(explain.explain_scorecard(card))
{sabotage}
print(len(dossiers), touched)
sys.exit(bool(touched))
"""


def scored(sabotage: str = "", part: str = ":1") -> subprocess.CompletedProcess[str]:
    script = SCRIPT.replace("{sabotage}", sabotage).replace("{part}", part)
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("part", ["::5", pytest.param(":", marks=pytest.mark.soak)])
def test_scoring_every_recorded_dossier_touches_nothing(part: str) -> None:
    done = scored(part=part)
    assert (done.returncode, done.stdout.strip()) == (0, "235 []"), done.stdout + done.stderr


@pytest.mark.parametrize(
    "sabotage",
    [
        "open('/dev/null').close()",
        pytest.param("__import__('socket').socket()", marks=pytest.mark.soak),
        pytest.param("__import__('sqlite3').connect(':memory:')", marks=pytest.mark.soak),
    ],
)
def test_the_audit_notices_an_open_file_a_socket_and_a_database(sabotage: str) -> None:
    assert scored(sabotage).returncode == 1
