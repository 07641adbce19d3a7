"""The base of the parts of `Settings`."""

from __future__ import annotations

from pydantic_settings import BaseSettings, SettingsConfigDict


class SettingsPart(BaseSettings):
    """Fields of `Settings`. A part is never read alone, so no validator of its own is built for it."""

    model_config = SettingsConfigDict(defer_build=True)
