"""The settings of datasets: where snapshots stand, how many are kept, and the key that signs them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from workers.night_settings import Duration


class DatasetSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    datasets: str = Field(
        default="",
        description="Where each published night is written as a dataset: a folder, which the site serves too, or any "
        "fsspec URL. Empty: nowhere.",
    )
    datasets_every: Duration = Field(
        default=timedelta(minutes=10),
        description="How often beat asks whether the newest published night is there. Extra questions are harmless.",
    )
    datasets_keep: int = Field(default=60, ge=0, description="Snapshots that are kept, the newest ones. 0: all.")
    datasets_key: Path | None = Field(
        default=None,
        description="File of the secret key that signs snapshots, in minisign's format. `hallmark key new` makes one.",
    )
    datasets_password: SecretStr = Field(
        default=SecretStr(""), description="Password of that key, when it has one.", repr=False
    )
