"""Settings of the judge: a model that gives a second opinion about texts. Without an address there is none."""

from __future__ import annotations

from typing import Annotated

from workers.settings.package_cache import PackageCacheSettings
from workers.settings.secret import Secret


class JudgeSettings(PackageCacheSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    judge: Annotated[
        str,
        "The judge that `hallmark judge` asks: `chat-completions` or a plug-in (entry point of the group "
        "`hallmark.judges`).",
    ] = "chat-completions"
    judge_url: Annotated[
        str, "Address of an API compatible with OpenAI's, e.g. `http://127.0.0.1:8000/v1`. Empty: none."
    ] = ""
    judge_model: Annotated[str, "The model to ask there."] = ""
    judge_key: Annotated[Secret, "Key of that API, sent to its address only."] = Secret("")
