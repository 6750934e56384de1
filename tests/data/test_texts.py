"""Texts become word counts: four kinds of files, four languages, and hostile files."""

import gzip
from collections import Counter
from math import log, sqrt

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.data import counting, read, read_text, sandbox
from nspca.data.arrays import to_npz
from nspca.data.counting import FEW_DOCUMENTS, LANGUAGES, WORD, document_limits, guess_language, stop_words
from nspca.data.formats import documents, excel
from nspca.data.formats.base import Source
from nspca.data.formats.documents import find_documents
from nspca.data.options import TextOptions
from nspca.data.sandbox import open_file
from nspca.errors import InvalidData, InvalidOption
from tests.files import archive, saved

FLOOD = "The river floods the old town and the bridge number {} falls into the water"
BREAD = "Bread and cheese are eaten with wine in the evening at table {}"
TEXTS = [(FLOOD, BREAD)[i % 2].format("abcdefghij"[i]) for i in range(10)]


TABLE = pd.DataFrame({"id": [f"d{i}" for i in range(10)], "text": TEXTS, "about": ["flood", "food"] * 5})
KINDS = {
    "a text, a document a line": ("lines", "\n".join(TEXTS).encode()),
    "CSV": ("table", TABLE.to_csv(index=False).encode()),
    "semicolons and gzip": ("table", gzip.compress(TABLE.to_csv(index=False, sep=";").encode())),
    "tabs without header": ("table", TABLE.to_csv(index=False, sep="\t", header=False).encode()),
    "Excel": ("table", saved(TABLE.to_excel, index=False)),
    "Excel, one column": ("lines", saved(TABLE[["text"]].to_excel, index=False)),
    "ZIP": ("files", archive({f"{('flood', 'food')[i % 2]}/d{i}.txt": text for i, text in enumerate(TEXTS)})),
    "UTF-16": ("lines", "\n".join(TEXTS).encode("utf-16")),
    "paragraphs": ("lines", "\r\n\r\n".join(text.replace(" and ", "\r\nand ") for text in TEXTS).encode()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_recognised_and_counted_alike(kind):
    found, raw = KINDS[kind]
    assert find_documents(Source(raw=raw)) == found
    data = read_text(raw)
    assert data.kind == "words" and data.X.shape[0] == 10
    assert {"river", "bread", "cheese", "wine"} <= set(data.feature_names) and "the" not in data.feature_names
    flooded = [i for i, text in enumerate(data.texts) if "river" in text]
    assert flooded == ([*range(5)] if found == "files" else [0, 2, 4, 6, 8])
    if found == "files":
        assert data.labels.tolist()[:6] == ["flood"] * 5 + ["food"] and data.sample_names[0] == "d0"
    if found == "table":
        assert data.sample_names[3] == "d3" and len(data.label_columns) == 1 and data.labels is None
    again = read(to_npz(data))
    assert again.texts == data.texts and again.kind == "words" and (again.X != data.X).nnz == 0


def test_counts_are_those_of_a_count_by_hand():
    import re

    data = read_text(TEXTS, stop_words="none", highest_share=1)
    words = [Counter(re.findall(r"[a-z]{2,}", text.lower())) for text in TEXTS]
    documents_of = Counter(word for one in words for word in one)
    kept = sorted(word for word, count in documents_of.items() if count >= 2)
    assert data.feature_names == tuple(kept)
    assert data.X.toarray().tolist() == [[one[word] for word in kept] for one in words]
    tfidf = read_text(TEXTS, stop_words="none", highest_share=1, weights="tfidf").X.toarray()
    row = [words[1][word] * (log(11 / (1 + documents_of[word])) + 1) for word in kept]
    assert tfidf[1] == pytest.approx(np.array(row) / sqrt(sum(x * x for x in row)))


def test_options_do_what_they_say():
    usual = read_text(TEXTS)
    pairs = read_text(TEXTS, pairs=True)
    assert set(usual.feature_names) < set(pairs.feature_names) and "old town" in pairs.feature_names
    assert all(word.count(" ") <= 1 for word in pairs.feature_names)
    assert len(read_text(TEXTS, most_words=3).feature_names) == 3
    few = ["storm calm", "storm wind", "storm rain", "calm rain snow"]
    assert read_text(few).feature_names == ("calm", "rain", "snow", "storm", "wind")
    many = [f"{text} {'hill' if i < 4 else 'dale'}" for i, text in enumerate(TEXTS)]
    assert not {"hill", "dale", "river"} <= set(read_text(many).feature_names)
    assert {"hill", "river"} <= set(read_text(many).feature_names)
    assert "dale" in read_text(many, highest_share=0.6).feature_names
    assert "hill" not in read_text(many, lowest_share=0.5).feature_names
    table = KINDS["CSV"][1]
    assert read_text(table, label_column="about").labels.tolist() == ["flood", "food"] * 5
    assert read_text(table, text_column="about", stop_words="none").feature_names == ("flood", "food")
    assert read_text("a b\n\nc d\ne f".replace(" ", "xx yy").encode(), split="paragraphs").X.shape[0] == 2
    for bad in (
        {"stop_words": "latin"}, {"weights": 1}, {"lowest_share": 2}, {"pairs": 1}, {"most_words": 1},
        {"split": "words"}, {"lowest_share": 0.6, "highest_share": 0.5}, {"most_words": True},
    ):  # fmt: skip
        with pytest.raises(InvalidOption):
            read_text(TEXTS, **bad)


RUNNING = {
    "english": "When the storm had gone they were walking along the shore and what they found was theirs",
    "german": "Als der Sturm vorbei war gingen sie an dem Ufer entlang und was sie fanden war nicht das ihre",
    "french": "Quand la tempête était passée ils sont allés sur la plage et ce qu'ils ont trouvé est à eux",
    "spanish": "Cuando la tormenta se fue ellos iban por la playa y lo que encontraron no era de los suyos",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_is_guessed_and_its_stop_words_left_out(language):
    data = read_text([f"{RUNNING[language]} {word}" for word in ("aaa", "bbb", "ccc")])
    assert f"Stop words of {language.capitalize()} are left out. The language was guessed." in data.notes
    assert not stop_words(language) & set(data.feature_names)
    assert all(word == word.lower() for word in stop_words(language))


def test_texts_in_two_languages_lose_the_stop_words_of_both():
    texts = [
        f"{2 * RUNNING[language]} {word}" for language in ("german", "english") for word in ("aa", "bb", "cc")
    ]
    data = read_text([*texts, 2 * RUNNING["french"]], lowest_share=0.0)
    assert any("Stop words of English and German and French are left out." in note for note in data.notes)
    few = read_text(20 * texts + [2 * RUNNING["french"]])  # one of 121 texts counts for nothing
    assert any("Stop words of English and German are left out." in note for note in few.notes)
    assert not (stop_words("english") | stop_words("german")) & {*few.feature_names}


def test_other_languages_keep_all_words():
    assert guess_language(["lorem", "ipsum", "dolor", "sit", "amet"]) == ""
    data = read_text(["река и город", "город и мост", "हिन्दी भाषा город"])
    assert {"река", "город", "हिन्दी", "भाषा"} <= set(data.feature_names)
    assert "No stop words are left out: the language was not recognised." in data.notes


def test_words_are_letters_of_any_script():
    import re

    found = re.findall(WORD, "naïve x2 don't snake_case हिन्दी 12th O'Neil-Smith " + "w" * 41)
    assert found == ["naïve", "don", "हिन्दी", "Neil", "Smith"]


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"a,b,c\n1,2,3\n4,5,6\n", ""),
        (b"who,a,b,c,kind\nann,1,2,3,x\nbob,3,4.5,4,y\n", ""),
        (b"gene,about,s1,s2,s3\n" + b"g%d,a text on gene number %d,1,2,3\n" * 9 % (*range(18),), ""),
        (b"3\n4\n3\n1 1 2\n1 4 1\n3 2 7\n", ""),
        (b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 2\n", ""),
        (b"\x93NUMPY\x01\x00", ""),
        (b"\x89PNG\r\n", ""),
        (b"one line of text only", ""),
        (archive({"a.png": b"\x89PNG", "b.png": b"\x89PNG", "notes.txt": "some words"}), ""),
        (archive({"docword.x.txt": "3\n4\n3\n1 1 2\n", "vocab.x.txt": "a\nb\n"}), ""),
        (b"PK\x03\x04 cut short", ""),
        (b"\x1f\x8b damaged", ""),
    ],
    ids=range(12),
)  # fmt: skip
def test_what_is_no_text_is_not_taken_for_one(raw, kind):
    assert find_documents(Source(raw=raw)) == kind


def test_paths_control_characters_and_scripts_are_only_ever_text():
    bomb = "<script>alert(1)</script> river\x00\x1b[2J flood"
    files = {"../../etc/<b>x</b>.txt": bomb.replace("\x00", "\x01"), "a\x1b[2J.txt": "river water flood"}
    files |= {"picture.txt": b"\x89PNG\x00\x00", "__MACOSX/._a.txt": "hidden", "b.pdf": b"%PDF"}
    raw = archive(files)
    data = read_text(raw)
    assert data.X.shape[0] == 2 and all(name.isprintable() for name in data.sample_names)
    assert not any(sign in text for text in data.texts for sign in "\x00\x01\x1b")
    assert any('no texts: "b.pdf", "picture.txt"' in note for note in data.notes)
    names = {"=cmd|x", "<img src=x>"}
    table = pd.DataFrame({"id": [*names, *"abcdefgh"], "text": TEXTS}).to_csv(index=False).encode()
    assert names <= set(read_text(table).sample_names)


def test_the_sandbox_counts_words_and_hands_texts_back(monkeypatch):
    monkeypatch.setattr(sandbox, "is_small", lambda raw: False)
    raw = KINDS["CSV"][1]
    refused = open_file(raw, "mine")
    assert isinstance(refused.data, InvalidData) and refused.is_mendable and refused.texts == "table"
    found = open_file(raw, "mine", as_texts=True, label_column="about", stop_words="english")
    here = read_text(raw, name="mine", label_column="about", stop_words="english")
    assert found.data.texts == here.texts and found.data.labels.tolist() == here.labels.tolist()
    assert (found.data.X != here.X).nnz == 0 and found.data.notes == here.notes


def test_what_is_said_beside_texts_is_read_with_them():
    raw = KINDS["CSV"][1]
    with_words = open_file(raw, "mine", b"a\nb\n", as_texts=True)  # an address may name a vocabulary too
    assert with_words.data.feature_names == read_text(raw).feature_names
    wrong = open_file(raw, "mine", as_texts=True, stop_words="x").data
    assert "must be 'automatic', 'none'" in str(wrong)


def test_long_texts_are_kept_in_part(monkeypatch):
    monkeypatch.setattr("nspca.data.reading.MOST_TEXT", 400)
    data = read_text([*TEXTS, "wörter " * 100])
    assert sum(len(text.encode()) for text in data.texts) <= 400 and data.texts[-1].endswith("…")
    assert any("kept in part" in note for note in data.notes)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(documents, "MOST_BYTES", 4000)
    monkeypatch.setattr(documents, "MOST_DOCUMENT", 1000)
    monkeypatch.setattr(documents, "MOST_DOCUMENTS", 100)
    monkeypatch.setattr("nspca.data.reading.MOST_BYTES", 4000)
    monkeypatch.setattr(counting, "MOST_DIFFERENT", 50)


def _different(count: int) -> bytes:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join(letters[i // 26] + letters[i % 26] + "x" for i in range(count)).encode()


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"a" * 5000, "texts (together )?may have at most"),
        (b"word " * 300 + b"\nmore words here", 'A text may have at most .*"document 1"'),
        (b"a b\n" * 200, "At most 100 texts are counted, got 201"),
        (_different(60) + b"\n" + _different(60), "more than 50 different words"),
        (gzip.compress(b"word word\n" * 10_000), "unpacks to more than"),
        (archive({f"{i}.txt": b"word " * 199 for i in range(9)}), "texts together may have at most"),
        (archive({"a.txt": b"word " * 199, "b.txt": b"w" * 3500}), "texts together|A text may have"),
        (archive({"a.txt": "one text"}), "Two text files .* got 1"),
        (b"1 2 3\n4 5 6\n7 8 9", "no word of two letters or more"),
        (b"only one\nword word", "Two words at least|in all"),
        (b"\x89PNG\r\n\x1a\n", "another format"),
        (b"abc \x00\x00 def\n", "not text"),
        (b'id,text\n1,"open quote\n2,b\n', "texts|words|split"),
        (b"", "empty"),
    ],
    ids=range(14),
)  # fmt: skip
def test_hostile_texts_are_one_sentence(small, raw, sentence, tmp_path):
    with pytest.raises(InvalidData, match=sentence) as error:
        read_text(raw, highest_share=1)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400
    (tmp_path / "x.txt").write_bytes(raw)
    with pytest.raises(InvalidData):
        read_text(tmp_path / "x.txt", highest_share=1)


def test_a_folder_of_texts(tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"d{i}.txt").write_text(text)
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    data = nspca.read_text(tmp_path)
    assert data.sample_names == tuple(f"d{i}" for i in range(10)) and data.name == tmp_path.name


@pytest.mark.long
def test_texts_made_to_hurt_take_less_than_400_mb(tmp_path):
    """A line of one GB, ten million different words, a ZIP bomb and words with rare letters, in full size."""
    import itertools
    import subprocess
    import sys

    line, words, bomb, wide = (tmp_path / name for name in ("line.txt", "words.txt", "bomb.zip", "wide.txt"))
    with line.open("wb") as file:
        for _ in range(1024):
            file.write(b"word " * 209_715)
    letters = "abcdefghijklmnopqrstuvwxyz"
    every = map("".join, itertools.product(letters, repeat=5))
    with words.open("w") as file:
        while some := list(itertools.islice(every, 1000)):
            file.write(" ".join(some) + "\n")
            if file.tell() > 60 * 2**20:
                break
    bomb.write_bytes(archive({f"{i}.txt": b"word " * 2**21 for i in range(20)}))
    wide.write_text("\n".join(f"Gespräch über das Wetter und 𝔣𝔬𝔬 {i:x}" * 3 for i in range(180_000)))
    script = (
        "import resource, sys\n"
        "import sklearn.feature_extraction.text, nspca\n"
        "nspca.read_text(['one text here', 'two texts here'])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    print(nspca.read_text(sys.argv[1]).X.shape)\n"
        "except nspca.InvalidData as error:\n    print(error)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
    )
    taken = {}
    for path in (line, words, bomb, wide):
        ran = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
        said, took = ran.stdout.strip().splitlines()
        taken[path.name] = (said, int(took))
    assert max(took for _, took in taken.values()) < 400, taken
    assert "more than 500,000 different words" in taken["words.txt"][0], taken


def counted(raw: bytes, **options):
    return read_text(raw, highest_share=1.0, **options)


def test_short_answers_many_of_which_are_the_same():
    answers = ["good staff", "price", "no comment", "price", "too loud at night", "good staff"] * 6
    raw = "id,What do you like?\n" + "".join(f"{i},{answer}\n" for i, answer in enumerate(answers))
    assert find_documents(Source(raw=raw.encode())) == "table"
    data = counted(raw.encode())
    assert data.X.shape[0] == 36 and {"price", "staff", "loud"} <= set(data.feature_names)


@pytest.mark.parametrize("above", ["", "Answers of 2020\n\n", "sep=,\n"])
def test_what_stands_above_a_table_of_texts_is_left_out(above):
    raw = (
        above + "id,answer\n" + "".join(f"{i},the river floods town {'abc'[i % 3] * 3}\n" for i in range(12))
    )
    assert counted(raw.encode()).X.shape[0] == 12


def test_a_column_in_quotes_keeps_its_blank_lines_and_its_name_is_no_text():
    raw = "comment\n" + "".join(f'"The river rose, fast.\n\nIt fell again in {i} days."\n' for i in range(12))
    assert counted(raw.encode()).X.shape[0] == 12
    raw = "comment\n" + "".join(f"the river floods the town number {i}\n" for i in range(12))
    data = counted(raw.encode())
    assert data.X.shape[0] == 12 and any('"comment"' in note for note in data.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今天天气很好我们去公园散步", {"天气", "公园"}),
        ("今日は天気がいいので公園へ散歩に行きました", {"天気", "公園"}),
        ("วันนี้อากาศดีมาก", {"อา", "าก"}),
    ],
)
def test_scripts_without_blanks_are_counted_by_pairs_of_signs(text, words):
    data = counted("\n".join([text] * 12).encode(), split="lines")
    assert words <= set(data.feature_names) and any("without blanks" in note for note in data.notes)


@pytest.mark.parametrize(
    ("encoding", "text", "word"),
    [
        ("gb18030", "今天天气很好我们去公园散步", "天气"),
        ("shift_jis", "今日は天気がいいので公園へ散歩に行きました", "天気"),
        ("koi8-r", "Сегодня хорошая погода, и мы пошли гулять в парк, где было много людей", "погода"),
        ("cp1252", "Heute ist schönes Wetter über der Brücke", "brücke"),
    ],
)
def test_the_encoding_of_texts_in_a_zip_is_guessed_from_all(encoding, text, word):
    data = counted(archive({f"{i}.txt": f"{text} {i}".encode(encoding) for i in range(12)}))
    assert word in data.feature_names and any("not UTF-8" in note for note in data.notes)


def test_divided_words_addresses_and_contractions():
    text = (
        "The govern-\nment built a rail-\nway. See https://example.org/page?x=1 or www.example.com, write to "
        "ann@example.org. We'll see; she doesn’t know they’ve AT&amp;T."
    )
    data = counted(archive({f"{i}.txt": text.encode() for i in range(12)}), stop_words="none")
    words = set(data.feature_names)
    assert {"government", "railway", "see", "write"} <= words
    assert not words & {"ll", "ve", "doesn", "https", "www", "example", "ann", "amp", "govern", "ment"}
    said = " ".join(data.notes)
    assert "divided" in said and "Addresses" in said


@pytest.mark.parametrize("mark", ["'", "’", "‘", "`", "´", "′", "â€™", "&rsquo;", "\x92"])
def test_no_contraction_leaves_its_end_as_a_word(mark):
    text = f"We{mark}ll see, we {mark}ll go, she doesn{mark}t know they{mark}ve sailed"
    words = set(counted([text] * 12, stop_words="none").feature_names)
    assert words == {"we", "see", "go", "she", "know", "they", "sailed"}


def test_words_of_ones_own_are_left_out():
    assert not {"flood", "food"} & set(read_text(TEXTS, own_stop_words="Flood, food").feature_names)
    assert read_text(TEXTS, own_stop_words=("flood",)).notes == read_text(TEXTS, own_stop_words="flood").notes


def docx(*paragraphs: str) -> bytes:
    body = "".join(
        f'<w:p><w:r><w:t xml:space="preserve">{one}</w:t></w:r><w:r><w:tab/><w:t>ahoy</w:t></w:r></w:p>'
        for one in paragraphs
    )
    return archive({"[Content_Types].xml": b"", "word/document.xml": f"<w:body>{body}</w:body>".encode()})


def pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page."""
    made = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    made += ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        made += [f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"]
        kids += [f"{len(made) + 1} 0 R"]
        made += [
            f"<< /Type /Page /Parent 2 0 R /Contents {len(made)} 0 R /MediaBox [0 0 612 792] "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ]
    made[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    whole, at = b"%PDF-1.4\n", []
    for number, one in enumerate(made, 1):
        at += [len(whole)]
        whole += f"{number} 0 obj\n{one}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in at)
    end = f"xref\n0 {len(at) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(at) + 1} /Root 1 0 R >>"
    return whole + f"{end}\nstartxref\n{len(whole)}\n%%EOF".encode()


def test_word_and_pdf_files_are_texts():
    told = ["Ships sail the sea &amp; more", "Gold lies in the banks today"]
    assert open_file(docx(*told), "told").texts == "lines"
    read = read_text(docx(*told, *told), highest_share=1.0, stop_words="none")
    assert read.texts[0] == "Ships sail the sea & more ahoy" and read.X.shape[0] == 4
    pages = read_text(pdf("ships sail the sea", "gold in the banks", "ships with gold"), stop_words="none")
    assert pages.texts == ("ships sail the sea", "gold in the banks", "ships with gold")
    files = {"a.docx": docx(*told), "b.pdf": pdf("ships of gold"), "c.txt": b"ships", "d.docx": b"PK\x03\x04"}
    mixed = counted(archive(files), stop_words="none")
    assert mixed.sample_names == ("a", "b", "c") and "d.docx" in " ".join(mixed.notes)


def test_a_damaged_or_empty_document_is_refused_in_a_sentence():
    with pytest.raises(InvalidData, match="locked or damaged"):
        read_text(b"%PDF-1.4 and no more")
    with pytest.raises(InvalidData, match="no letters"):
        read_text(pdf(" "))
    begun = archive({"[Content_Types].xml": b"", "word/document.xml": b"<w:p><w:t " * 100_000})
    with pytest.raises(InvalidData, match="no letters"):  # each would be searched to the end of the file
        read_text(begun)


def test_a_comma_in_quotation_marks_makes_no_column():
    answers = "".join(f'"slow, cold and dear {i}\nbut friendly"\n' for i in range(12))
    data = read_text(f"comment\n{answers}".encode(), highest_share=1.0)
    assert data.X.shape[0] == 12 and not data.label_columns


def test_a_spreadsheet_that_is_refused_as_a_table_is_converted_once(monkeypatch):
    opened = []
    monkeypatch.setattr(excel, "_open_zip", lambda *how, own=excel._open_zip: opened.append(1) or own(*how))
    found = open_file(saved(TABLE.to_excel, index=False), "texts")
    assert found.texts == "table" and isinstance(found.data, InvalidData) and len(opened) == 1


def test_a_word_of_one_text_alone_is_left_out_unless_there_are_few():
    usual = TextOptions()
    assert document_limits(FEW_DOCUMENTS - 1, usual) == (1, FEW_DOCUMENTS - 1)
    assert document_limits(FEW_DOCUMENTS, usual)[0] == 2


def test_the_encoding_of_texts_is_named_or_chosen_among_those_that_are_offered(tmp_path):
    texts = {f"{i}.txt": "погода дождь город улица".encode("koi8_r") for i in range(4)}
    for name, raw in texts.items():
        (tmp_path / name).write_bytes(raw)
    for source in (archive(texts), tmp_path):
        (said,) = (one for one in read_text(source).findings if one.option == "encoding")
        assert "cp1251" in {way.value for way in said.ways} and "koi8_r" in said.what
        assert "погода" in read_text(source, encoding="koi8_r").feature_names
        assert "погода" not in read_text(source, encoding="cp1251").feature_names
    assert (
        "погода"
        in read_text("погода\nдождь\nпогода дождь\n".encode("koi8_r"), encoding="koi8_r").feature_names
    )
    with pytest.raises(InvalidData, match="None of the 4 files is text in the encoding utf-8"):
        read_text(archive(texts), encoding="utf-8")
