"""Count the words of documents by scikit-learn, for `nspca.read_text`: choose the words, and weight them.

Stop words are those of scikit-learn for English, and of ``counting.toml`` for other languages.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from itertools import chain, islice, pairwise
from math import ceil, floor
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from nspca.data.limits import MAX_ENTRIES
from nspca.data.options import TextOptions
from nspca.errors import InvalidData

MOST_DIFFERENT = 500_000
"""Maximum different words, or pairs of words, of all documents. Each costs 250 bytes during counting."""
LANGUAGES = ("english", "german", "french", "spanish")
_ENOUGH_STOP_WORDS = 0.15
"""Share of stop words that tells a language. Running text of it has 35 to 50 %, other text less than 10 %."""
FEW_DOCUMENTS = 10
"""With fewer documents, a word may be in a single document or in all of them."""
_SEEN = 20_000
"""Number of words, from documents evenly spread, that the languages are guessed from."""
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u0de5\u0e31-\u0e4e"
)
"""Combining marks, which are letters of Hebrew, Arabic, Indic and Thai words."""
WORD = rf"(?<![\w{_MARKS}])[^\W\d_](?:[^\W\d_]|[{_MARKS}]){{1,39}}(?![\w{_MARKS}])"
"""A word: two to forty letters of any script, without digits."""
_APOSTROPHE = "(?:['’‘ʼ`´′＇]|â€™)"
_CONTRACTED = re.compile(
    rf"\b[^\W\d_]+n{_APOSTROPHE}t\b|(?<=[^\W\d_]){_APOSTROPHE}(?:ll|ve|re|s|d|m)\b"
    rf"|(?<=[^\W\d_]) {_APOSTROPHE}(?:ll|ve|re)\b|\bn{_APOSTROPHE}t\b"
)
"""The end of a contraction such as "we'll", and the whole of one such as "doesn’t", in lower case."""
_ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+|\S+@[\w-]+(?:\.[\w-]+)+|\b(?:[\w-]+\.)+(?:com|org|net|edu|gov)\b(?:/\S*)?",
    re.IGNORECASE,
)
"""Addresses of pages and of e-mail."""
_DIVIDED = re.compile(r"(?<=[^\W\d_])[-‐\u00ad¬][ \t]*\r?\n[ \t]*(?=([^\W\d_]))|\u00ad")
"""The hyphen of a word that is divided at the end of a line, and soft hyphens."""
UNDIVIDED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
"""A run of signs of a script without blanks: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_CLUSTER = re.compile(
    r"[^\W\d_][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b6-\u17d3]*"
)
"""A sign with the marks above and below it."""
_ENOUGH_SIGNS = 0.1
"""Share of the letters in scripts without blanks from which pairs of signs are counted."""


@dataclass(frozen=True, eq=False)
class Counted:
    """Word counts: X (documents, words) as CSR, the words in alphabetical order, and notes for the user."""

    X: sp.csr_array
    words: tuple[str, ...]
    notes: tuple[str, ...]


def count_documents(texts: Sequence[str], options: TextOptions) -> Counted:
    """Return the counts of each word in each document, by scikit-learn's vectorizers."""
    # Imported late, since scikit-learn slows the start of a page.
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    languages = _guess_languages(texts) if options.stop_words == "automatic" else [options.stop_words]
    left_out = {word.lower() for word in options.own_stop_words}.union(
        *(stop_words(language) for language in languages if language in LANGUAGES)
    )
    least, most = document_limits(len(texts), options)
    limits = {"min_df": least, "max_df": most}
    undivided = _is_undivided(texts)
    splits = {"token_pattern": WORD, "preprocessor": _paired if undivided else plain}

    def counted(words: CountVectorizer, **further: Any) -> tuple[Any, CountVectorizer, int]:
        """Return counts, the fitted vectorizer, and the number of words before the limits on documents."""
        known: set[str] = set()
        analyze = _bounded(words.build_analyzer(), known, options.pairs)
        vectorizer = CountVectorizer(analyzer=analyze, dtype="float64", **limits, **further)
        try:
            return vectorizer.fit_transform(texts), vectorizer, len(known)
        except ValueError as error:
            if isinstance(error, InvalidData):
                raise
            raise _no_words(len(known), least, most, len(texts)) from None

    singles = CountVectorizer(stop_words=[*left_out] or None, **splits)
    if options.pairs:  # pairs are made of words that are kept on their own
        kept = frozenset(counted(singles)[1].vocabulary_)
        split = singles.build_analyzer()
        singles = CountVectorizer(
            ngram_range=(1, 2),
            preprocessor=splits["preprocessor"],
            tokenizer=lambda text: [word for word in split(text) if word in kept],
            token_pattern=None,
        )
    X, vectorizer, different = counted(singles, max_features=options.most_words)
    if X.nnz > MAX_ENTRIES:
        raise InvalidData(
            f"The counts of the words have {X.nnz} entries, at most {MAX_ENTRIES} are kept: keep fewer words "
            "or fewer texts."
        )
    kept_words = tuple(map(str, vectorizer.get_feature_names_out()))
    if len(kept_words) < 2:
        raise _no_words(different, least, most, len(texts))
    notes = _notes(len(texts), len(kept_words), different, languages, least, most, options)
    if undivided:
        notes += (
            "The texts are in a script without blanks between words: each pair of neighbouring signs "
            "is counted as a word. Divide the words by blanks to have them counted.",
        )
    if any(map(_DIVIDED.search, texts)):
        notes += ("Words that are divided at the end of a line were joined.",)
    if any(map(_ADDRESS.search, texts)):
        notes += ("Addresses of web pages and e-mail are left out.",)
    if options.weights == "tfidf":
        X = TfidfTransformer().fit_transform(X)
        notes += ("Counts are weighed by tf-idf, and every text has length one.",)
    counts = sp.csr_array(X)
    counts.sort_indices()
    return Counted(counts, kept_words, notes)


def plain(text: str) -> str:
    """Return a text in lower case without addresses, ends of contractions, and hyphens at line ends.

    In Unicode form NFC, a letter and its accent are one character.
    """
    text = _DIVIDED.sub(lambda found: "" if (found[1] or "a").islower() else found[0], text)
    text = _ADDRESS.sub(" ", unescape(text) if "&" in text else text)
    return _CONTRACTED.sub("", unicodedata.normalize("NFC", text).lower())


def _is_undivided(texts: Sequence[str]) -> bool:
    head = "".join(text[:_SEEN] for text in islice(texts, 200))[:_SEEN]
    signs = sum(map(len, UNDIVIDED.findall(head)))
    return signs > _ENOUGH_SIGNS * sum(map(str.isalpha, head)) > 0


def _paired(text: str) -> str:
    """Return a plain text with every pair of neighbouring signs of a script without blanks as a word."""

    def pairs(found: re.Match[str]) -> str:
        signs = _CLUSTER.findall(found[0])
        return f" {' '.join(map(''.join, pairwise(signs))) if len(signs) > 1 else found[0]} "

    return UNDIVIDED.sub(pairs, plain(text))


def document_limits(count: int, options: TextOptions) -> tuple[int, int]:
    """Return the minimum and maximum number of documents, of `count`, that must contain a word."""
    few = count < FEW_DOCUMENTS
    least = max(1 if few else 2, ceil(options.lowest_share * count - 1e-9))
    most = count if few else floor(options.highest_share * count + 1e-9)
    if least > most:
        raise InvalidData(
            f"Of {count} texts a word must be in at least {least} and at most {most}, which no word can be: "
            "lower the lowest share of documents or raise the highest."
        )
    return least, most


def _bounded(analyze: Callable[[str], list[str]], known: set[str], pairs: bool) -> Callable[[str], list[str]]:
    """Return the analyzer of a vectorizer that refuses texts with too many different words.

    `known` gets the words. The vectorizer keeps the same string objects, so the set needs little memory.
    """

    def bounded(text: str) -> list[str]:
        words = analyze(text)
        known.update(words)
        if len(known) > MOST_DIFFERENT:
            what = "words and pairs of words" if pairs else "words"
            way_out = "leave the pairs out" if pairs else "check that these are texts"
            raise InvalidData(
                f"The texts hold more than {MOST_DIFFERENT:,} different {what}: {way_out}, or give fewer of "
                "them."
            )
        return words

    return bounded


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
    return best if shares[best] >= _ENOUGH_STOP_WORDS else ""


def _guess_languages(texts: Sequence[str]) -> list[str]:
    """Return the language of all texts, and those that a tenth of the texts or more is in."""
    step = max(len(texts) // 500, 1)
    some = [
        re.findall(WORD, plain(text[: 10 * _SEEN]))[: max(_SEEN // len(texts), 40)] for text in texts[::step]
    ]
    alone = Counter(guess_language(words) for words in some if len(words) >= 20)
    found = {
        guess_language(chain.from_iterable(some)),
        *(one for one in alone if 10 * alone[one] >= len(some)),
    }
    return [language for language in LANGUAGES if language in found]


def _no_words(different: int, least: int, most: int, count: int) -> InvalidData:
    found = f"{different:,} different words" if different else "no word of two letters or more"
    return InvalidData(
        f"Two words at least must be in {least} to {most} of the {count} texts, and the texts hold {found} "
        "in all: give more texts, or allow rarer and commoner words."
    )


def _notes(
    count: int,
    kept: int,
    different: int,
    languages: Sequence[str],
    least: int,
    most: int,
    options: TextOptions,
) -> tuple[str, ...]:
    what = "words and pairs of words" if options.pairs else "words"
    notes = (
        f"{kept:,} of {different:,} different {what} are kept: those in {least:,} to {most:,} of the "
        f"{count:,} texts" + (", the most frequent ones." if kept == options.most_words else "."),
    )
    if called := " and ".join(one.capitalize() for one in languages if one in LANGUAGES):
        guessed = " The language was guessed." if options.stop_words == "automatic" else ""
        return (*notes, f"Stop words of {called} are left out.{guessed}")
    return notes if languages else (*notes, "No stop words are left out: the language was not recognised.")
