"""Settings of datasets: where snapshots are written, how many are kept, and the key that signs them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from workers.settings.judge import JudgeSettings
from workers.settings.secret import Secret


class DatasetSettings(JudgeSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    datasets: Annotated[
        str, "Folder or fsspec URL for a dataset of each published run, the same for all workers. Empty: none."
    ] = ""
    datasets_every: Annotated[timedelta, "How often beat checks that the newest published run has a dataset."] = (
        timedelta(minutes=10)
    )
    datasets_keep: Annotated[int, Meta(ge=0), "Number of snapshots kept. 0: all."] = 60
    datasets_key: Annotated[
        Path | None, "Secret key file that signs snapshots (minisign format, `hallmark key new`)."
    ] = None
    datasets_password: Annotated[Secret, "Password of that key."] = Secret("")
