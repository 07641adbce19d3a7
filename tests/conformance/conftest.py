from __future__ import annotations

import pytest

from tests.servers import preloaded


@pytest.fixture(autouse=True)
def without_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    preloaded.use_for_conversations(monkeypatch)
