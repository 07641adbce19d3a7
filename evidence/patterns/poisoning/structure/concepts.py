"""The ideas of which an instruction is made, whatever its language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum, auto
from typing import Final

from msgspec import Struct


class Concept(IntEnum):
    """One idea that a word or a phrase expresses."""

    GIVE = auto()
    """Pass something on, or put it somewhere."""
    READ = auto()
    """Obtain something."""
    TALK = auto()
    """The conversation, the prompt, or what the model knows."""
    SECRET = auto()
    PATH = auto()
    """A file that usually holds secrets."""
    FILES = auto()
    """Other private data: files, mail, contacts."""
    USER = auto()
    """The user, in the third person."""
    NOT = auto()
    TELL = auto()
    """Inform a person of something."""
    CONFIRM = auto()
    """Ask a person for consent."""
    DUTY = auto()
    """An obligation or a request, or a time when something has to be done."""
    FIELD = auto()
    """A parameter of a tool."""
    OTHER = auto()
    """Another tool, or tools in general."""
    ABROAD = auto()
    """A recipient outside the conversation."""
    CHANGE = auto()
    """Replace or redirect something."""
    IGNORE = auto()
    PRIOR = auto()
    """Earlier, or other."""
    RULES = auto()
    """Instructions that the model follows."""
    ALL = auto()
    STEP = auto()
    """The step, call or instruction that the text itself requires."""
    ALSO = auto()
    """Besides what the tool is for."""
    OBEY = auto()
    CONTENT = auto()
    """What a tool returns."""
    FREELY = auto()
    """By choice of the caller, and not kept."""
    PROMPT = auto()
    """What the model was configured with."""
    DECEIVE = auto()
    """Mislead a person."""
    TOWARDS = auto()
    """An address to which something goes. Found by its form."""
    VALUE = auto()
    """A value that the text itself prescribes. Found by its form."""
    STRANGER = auto()
    """A tool that the server does not have. Found by its form."""
    SLOT = auto()
    """The text describes a parameter. Known from its place."""
    QUOTE = auto()
    """What marks a text as an example of an attack: detection, examples, training."""


Vocabulary = Mapping[Concept, str]
"""The words of one language. A bar separates them; a star stands for any ending."""


class Word(Struct, frozen=True):
    """A folded word or phrase of one language. `joined`: the language writes words together, or with prefixes."""

    text: str
    concept: Concept
    language: int
    open_end: bool
    joined: bool


Selection = Callable[[Concept, int], bool]
"""Whether the words of a concept in a language, given by its bit, are wanted."""


def list_vocabulary(
    vocabularies: Mapping[str, Vocabulary], joined: frozenset[str], is_wanted: Selection
) -> Iterator[Word]:
    """The wanted words; each language has one bit."""
    for bit, (language, vocabulary) in enumerate(vocabularies.items()):
        for concept, words in vocabulary.items():
            if is_wanted(concept, 1 << bit):
                for word in words.split("|"):
                    yield Word(word.rstrip("*"), concept, 1 << bit, word.endswith("*"), language in joined)


ENGLISH: Final = 1
"""The bit of the first language."""

ANY_LANGUAGE: Final = (1 << 63) - 1
