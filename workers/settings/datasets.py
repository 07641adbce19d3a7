"""Settings of datasets: where snapshots are written, how many are kept, and the key that signs them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr

from workers.settings.nightly import Duration
from workers.settings.part import SettingsPart


class DatasetSettings(SettingsPart):
    """A part of `Settings`."""

    datasets: str = Field(
        default="", description="Folder or fsspec URL for a dataset of each published run. Empty: none."
    )
    datasets_every: Duration = Field(
        default=timedelta(minutes=10), description="How often beat checks that the newest published run has a dataset."
    )
    datasets_keep: int = Field(default=60, ge=0, description="Number of snapshots kept. 0: all.")
    datasets_key: Path | None = Field(
        default=None, description="Secret key file that signs snapshots (minisign format, `hallmark key new`)."
    )
    datasets_password: SecretStr = Field(default=SecretStr(""), description="Password of that key.", repr=False)
