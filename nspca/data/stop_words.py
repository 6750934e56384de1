"""Stop words: words of four languages that carry grammar and no topic, and a guess of a text's language.

The English list is that of scikit-learn, the others stand in ``stop_words.toml``. `nspca.data.counting`
leaves these words out.
"""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

LANGUAGES = ("english", "german", "french", "spanish")
ENOUGH = 0.15
"""Share of stop words that tells a language. Running text of it has 35 to 50 %, other text less than 10 %."""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of one of `LANGUAGES`, in lower case."""
    if language == "english":
        # Imported when it is needed: the start of every page is faster without.
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    lists = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return frozenset(lists[language].split())


def guess_language(words: Iterable[str]) -> str:
    """Return the one of `LANGUAGES` whose stop words make up most of the words; empty when none has enough.

    Some thousands of words of running text, in lower case, are enough.
    """
    counted = [*words]
    shares = {
        language: sum(word in stop_words(language) for word in counted) / max(len(counted), 1)
        for language in LANGUAGES
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= ENOUGH else ""
