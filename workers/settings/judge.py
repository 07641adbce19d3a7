"""Settings of the judge: a model that gives a second opinion about texts. Without an address there is none."""

from __future__ import annotations

from pydantic import Field, SecretStr

from workers.settings.part import SettingsPart


class JudgeSettings(SettingsPart):
    """A part of `Settings`."""

    judge: str = Field(
        default="chat-completions",
        description="The judge that `hallmark judge` asks: `chat-completions` or a plug-in (entry point of the group "
        "`hallmark.judges`).",
    )
    judge_url: str = Field(
        default="",
        description="Address of an API compatible with OpenAI's, e.g. `http://127.0.0.1:8000/v1`. Empty: none.",
    )
    judge_model: str = Field(default="", description="The model to ask there.")
    judge_key: SecretStr = Field(
        default=SecretStr(""), description="Key of that API, sent to its address only.", repr=False
    )
