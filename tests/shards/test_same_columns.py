"""A table has the same columns in memory, in shards and in a plan, or is refused by both that read it."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.__main__ import main
from nspca.errors import InvalidData
from nspca.matrix.covariance import canonical, sparse_digest
from nspca.shards.sources import shard
from tests.data import test_parquet, test_tables
from tests.data.test_parquet import written

NOISE = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 6)), columns=list("abcdef"))
CALLED = NOISE.set_index("s" + NOISE.index.astype(str))
SEVENTH = {
    "labels": ["x", "y"] * 100,
    "flags": [True, False] * 100,
    "words for nothing": ["NA", "y"] * 100,
    "nothing": [None] * 200,
    "labels far below": [None] * 190 + ["x"] * 10,
    "numbers far below": [None] * 190 + [1.5] * 10,
    "texts far below": [None] * 150 + [f"t{i}" for i in range(50)],
    "texts": [f"t{i}" for i in range(200)],
    "texts that repeat at first": ["x"] * 100 + [f"t{i}" for i in range(100)],
    "numbers as texts": [str(i) for i in range(200)],
    "decimals": [Decimal(i).scaleb(-2) for i in range(200)],
    "dates": [date(2020, 1, 1 + i % 9) for i in range(200)],
    "marks in numbers": ["1_000", *range(199)],
    "gaps": [1.0, None] * 100,
    "lists": [[1]] * 200,
}
"""What a column beside the noise may hold."""


def csv(frame, **how):
    return frame.to_csv(**how).encode()


def of_test(test):
    """The tables of a test of reading."""
    for mark in test.pytestmark:
        for param in mark.args[1]:
            raw = param[0] if isinstance(param, tuple) else param
            if isinstance(raw, bytes):
                yield raw


TABLES = {
    "index": csv(NOISE),
    "index with a name": csv(NOISE, index_label="id"),
    "no index": csv(NOISE, index=False),
    "as R writes it": csv(NOISE).replace(b",a,", b"a,", 1),
    "blank lines above": b"\n\r\n" + csv(NOISE),
    "no end of line": csv(NOISE).rstrip(),
    "names": csv(CALLED),
    "long lines": csv(pd.DataFrame(np.random.default_rng(0).random((12, 12_000)))),
    "marks between thousands": b"a\tb\tc\n" + b"1,243\t98\t1\n960\t62\t2\n2,080\t89\t3\n" * 50,
    "parquet filtered": written(NOISE[NOISE.a > 0]),
    "parquet stacked": written(pd.concat([NOISE, NOISE])),
    "parquet sorted": written(NOISE.set_index(NOISE.index // 2)),
    "parquet with two indices": written(pd.concat([NOISE], keys=["x"])),
    "parquet names": written(CALLED),
    "parquet, dots in names": written(NOISE.rename(columns={"b": "a.b"})),
}
for what, cells in SEVENTH.items():
    TABLES[what] = csv(NOISE.assign(g=cells), index=False)
    if what != "marks in numbers":
        TABLES[f"parquet {what}"] = written(NOISE.assign(g=cells))
for test in (
    test_tables.test_the_same_table_in_every_dress,
    test_tables.test_one_sentence_for_what_cannot_be_read,
    test_tables.test_what_is_written_for_people_is_named,
    test_parquet.test_one_sentence,
):
    TABLES |= {f"{test.__name__} {i}": raw for i, raw in enumerate(of_test(test))}
WHOLE_ONLY = (b"\xff\xfe", b"\n\na,b,c")
"""How tables begin that are read in memory alone: UTF-16, and bare delimiters below."""


@pytest.mark.parametrize("name", TABLES)
def test_the_columns_are_the_same(name, tmp_path):
    source = tmp_path / "table"
    source.write_bytes(TABLES[name])
    try:
        known = nspca.read(source)
    except InvalidData as error:
        known = error
    if isinstance(known, InvalidData) or TABLES[name].startswith(WHOLE_ONLY):
        if "got 1 sample " not in str(known):  # which a folder may have
            with pytest.raises(InvalidData, match=r"\w: [a-z ]+|\.$"):
                shard(source, tmp_path / "s")
        return
    made = shard(source, tmp_path / "s", rows=50)
    assert (made.shape, made.feature_names) == (known.X.shape, tuple(known.feature_names))
    assert made.digest == sparse_digest(canonical(sp.csr_array(known.X)))
    size = nspca.plan(source, 1).size
    assert (size.rows, size.columns) == known.X.shape


def test_a_certificate_of_a_frame_with_its_index_holds_for_its_shards(tmp_path, capsys):
    source, folder, proof = (str(tmp_path / name) for name in ("idx.csv", "s", "proof.npz"))
    NOISE.to_csv(source)
    assert main(["shard", source, folder]) == 0
    assert "200 x 6" in capsys.readouterr().out
    assert main(["solve", folder, "--k", "2", "--certificate", proof]) == 0
    assert main(["verify", source, proof]) == 0
