"""Tables of genes: the genes become features, what describes them is set aside, and both are said."""

import gzip

import numpy as np
import pytest

from nspca.data import read
from nspca.errors import InvalidData
from tests.files import archive

GENES = [f"ENSG{i:05d}" for i in range(6)]
NAMES = ["a_1", "a_2", "b_1", "b_2"]
COUNTS = np.random.default_rng(0).integers(1, 900, size=(6, 4))


def lines(header, rows, sign="\t") -> bytes:
    return "".join(sign.join(map(str, row)) + "\n" for row in [header, *rows]).encode()


def with_genes(*before, after=()):
    """Rows of genes, with the cells `before` and `after` the counts."""
    return [[gene, *before, *counts, *after] for gene, counts in zip(GENES, COUNTS, strict=True)]


def is_read(raw: bytes, names=NAMES, genes=GENES, **options):
    data = read(raw, **options)
    assert data.X.T.tolist() == COUNTS.tolist()
    assert (list(data.sample_names), list(data.feature_names)) == (list(names), list(genes))
    return data


BEFORE = ["Geneid", "Chr", "Start", "End", "Strand", "Length"]
ASIDE = ["chr1;chr1", "1;30", "20;50", "+;+", 500]


@pytest.mark.parametrize("above", [b"", b'# Program:featureCounts v2.0; Command:"featureCounts" "-a" "x"\n'])
def test_feature_counts(above):
    paths = [f"/data/align/{name}.bam" for name in NAMES]
    data = is_read(above + lines([*BEFORE, *paths], with_genes(*ASIDE)))
    assert any('"Chr", "Start"' in note for note in data.notes)
    is_read(above + lines([*BEFORE, *NAMES], with_genes(*ASIDE), ","))


@pytest.mark.parametrize("header", [["gene", *NAMES], NAMES, None])
def test_htseq_counts_leave_out_what_is_no_gene(header):
    below = [[name, 1, 2, 3, 4] for name in ("__no_feature", "__ambiguous", "__alignment_not_unique")]
    raw = lines(header or [GENES[0], *COUNTS[0]], [*with_genes()[header is None :], *below])
    data = is_read(raw, names=NAMES if header else [f"sample {i}" for i in range(1, 5)])
    assert any("left out: 3" in note for note in data.notes)


def star(column: int) -> bytes:
    above = [[name, 5, 6, 7] for name in ("N_unmapped", "N_multimapping", "N_noFeature", "N_ambiguous")]
    return lines(
        above[0], [*above[1:], *([gene, n, 0, n] for gene, n in zip(GENES, COUNTS[:, column], strict=True))]
    )


def htseq(column: int) -> bytes:
    rows = [[gene, n] for gene, n in zip(GENES, COUNTS[:, column], strict=True)]
    return lines(rows[0], [*rows[1:], ["__no_feature", 3], ["__ambiguous", 1]])


@pytest.mark.parametrize(
    ("make", "ending"), [(star, "ReadsPerGene.out.tab"), (htseq, ".counts.txt"), (htseq, ".htseq.txt.gz")]
)
def test_files_of_single_samples_are_joined(make, ending, tmp_path):
    pack = gzip.compress if ending.endswith("gz") else bytes
    files = {f"{name}{ending}": pack(make(i)) for i, name in enumerate(NAMES)}
    data = is_read(archive(files))
    assert any("4 samples were joined" in note for note in data.notes)
    for name, raw in files.items():
        (tmp_path / name).write_bytes(raw)
    is_read(tmp_path)
    with_folders = {f"{name}/x{ending}": raw for name, raw in zip(NAMES, files.values(), strict=True)}
    is_read(archive(with_folders), names=["x", "x (2)", "x (3)", "x (4)"])
    files[f"a_1{ending}"] = pack(make(0).replace(GENES[2].encode(), b"other"))
    with pytest.raises(InvalidData, match="must name the same genes"):
        read(archive(files))
    with pytest.raises(InvalidData, match="one sample"):
        read(make(0))


def protein(prefix: str, suffix: str = "") -> list[str]:
    return [f"{prefix}{name}{suffix}" for name in NAMES]


def test_maxquant_takes_lfq_and_leaves_decoys_out():
    header = ["Protein IDs", "Majority protein IDs", "Gene names", "Score", *protein("Intensity ")]
    header += [
        *protein("LFQ intensity "),
        "Only identified by site",
        "Reverse",
        "Potential contaminant",
        "id",
    ]
    marks = [["", "", ""], ["+", "", ""], ["", "+", ""], ["", "", "+"]]
    rows = [
        [f"{gene};Q", gene, "g", 12.5, *(7 * counts), *counts, *marks[0], i]
        for i, (gene, counts) in enumerate(zip(GENES, COUNTS, strict=True))
    ]
    decoys = [[f"D{i};Q", f"D{i}", "g", 1.5, *[9] * 8, *mark, i] for i, mark in enumerate(marks[1:])]
    raw = lines(header, [*rows, *decoys])
    data = is_read(raw)
    assert any("left out: 3" in note for note in data.notes)
    other = read(raw, columns=("Intensity *",))
    assert other.X.T.tolist() == (7 * COUNTS).tolist() and other.sample_names == tuple(protein("Intensity "))
    is_read(
        raw.replace(b"LFQ intensity ", b"LFQ.intensity.").replace(b"Majority protein", b"Majority.protein")
    )


def test_fragpipe_and_dia_nn():
    rows = [
        ["sp|" + gene, gene, "N", "g", 100, 0.99, *counts, *(3 * counts)]
        for gene, counts in zip(GENES, COUNTS, strict=True)
    ]
    decoys = [
        ["contam_sp|X", "X", "N", "g", 100, 0.9, *[1] * 8],
        ["rev_sp|Y", "Y", "N", "g", 9, 0.9, *[1] * 8],
    ]
    header = ["Protein", "Protein ID", "Entry Name", "Gene", "Protein Length", "Protein Probability"]
    header += [*protein("", " MaxLFQ Intensity"), *protein("", " Intensity")]
    assert any("left out: 2" in note for note in is_read(lines(header, [*rows, *decoys])).notes)
    header = ["Protein.Group", "Protein.Ids", "Protein.Names", "Genes", "First.Protein.Description"]
    paths = [f"D:\\raw\\{name}.raw" for name in NAMES]
    is_read(lines([*header, *paths], with_genes("P", "N", "g", "words")))
    header[4:] = ["Proteotypic", "Precursor.Charge", "Precursor.Id"]
    rows = [["P", "P", "N", "g", 1, 2, gene, *counts] for gene, counts in zip(GENES, COUNTS, strict=True)]
    is_read(lines([*header, *paths], rows))


def test_spectronaut_and_mzmine():
    quantities = [f"[{i}] {name}.raw.PG.Quantity" for i, name in enumerate(NAMES, 1)]
    is_read(lines(["PG.ProteinGroups", "PG.Genes", *quantities], with_genes("g")))
    areas = [f"{name}.mzML Peak area" for name in NAMES]
    is_read(lines(["row ID", "row m/z", "row retention time", *areas], with_genes(200.5, 3.25), ","))


def test_gct_of_both_versions():
    old = b"#1.2\n6\t4\n" + lines(["NAME", "Description", *NAMES], with_genes("na"))
    is_read(old)
    about = [["group", "na", "na", *"xxyy"], ["batch", "na", "na", *"1212"], ["plate", "na", "na", *"abcd"]]
    new = lines(["id", "symbol", "chr", *NAMES], [*about, *with_genes("s", "1")])
    data = is_read(b"#1.3\r\n6\t4\t2\t3\r\n" + new)
    assert data.label_columns["group"].tolist() == list("xxyy")
    assert set(data.label_columns) >= {"group", "batch"} and "plate" not in data.label_columns
    assert read(b"#1.3\n6\t4\t2\t3\n" + new, label_column="batch").labels.tolist() == [1, 2, 1, 2]
    with pytest.raises(InvalidData, match="cut short"):
        read(old[:-30])
    with pytest.raises(InvalidData, match="Line 2 of a GCT file holds the numbers of rows and columns"):
        read(b"#1.2\n6\n" + old)
    with pytest.raises(InvalidData, match="its header has 6 names"):
        read(old.replace(b"6\t4\n", b"6\t9\n"))


def geo(keys=("tissue: liver", "tissue: liver", "tissue: lung", "tissue: lung"), rows=None) -> bytes:
    quoted = [f'"{name}"' for name in NAMES]
    text = '!Series_title\t"of two\nlines"\n!Series_summary\t"x"\n\n'
    text += (
        "\t".join(["!Sample_title", *quoted])
        + "\n"
        + "\t".join(["!Sample_organism_ch1", *['"mouse"'] * 4])
        + "\n"
    )
    text += "\t".join(["!Sample_characteristics_ch1", *(f'"{key}"' for key in keys)]) + "\n"
    body = "".join("\t".join(map(str, row)) + "\n" for row in (with_genes() if rows is None else rows))
    table = "\t".join(['"ID_REF"', *quoted]) + "\n" + body
    return f"{text}!series_matrix_table_begin\n{table}!series_matrix_table_end\n".encode()


def test_geo_series_matrix_has_groups():
    data = is_read(geo())
    assert data.label_name == "tissue" and data.labels.tolist() == ["liver", "liver", "lung", "lung"]
    # What is said of a sample may stand in any of the lines.
    mixed = read(geo(keys=("tissue: liver", "sex: m", "tissue: liver", "sex: m")))
    assert set(mixed.label_columns) >= {"tissue", "sex"}
    is_read(gzip.compress(geo()))
    as_they_are = read(geo(), features_in_rows=False)
    assert as_they_are.feature_names == tuple(NAMES) and "left out" in " ".join(as_they_are.notes)
    with pytest.raises(InvalidData, match="supplementary files"):
        read(geo(rows=[]))
    with pytest.raises(InvalidData, match="cut short"):
        read(geo()[:-40])


def test_two_names_of_each_gene():
    is_read(lines(["gene_id", "gene_name", *NAMES], with_genes("n")))
    raw = lines(["gene_id", "gene_symbol", *NAMES, "gene_biotype"], with_genes("n", after=["coding"]))
    (way,) = (way for one in is_read(raw).findings for way in one.ways if way.option == "id_column")
    named = read(raw, id_column=way.value)
    assert way.value == "gene_symbol" and named.X.tolist() == read(raw).X.tolist()
    assert named.feature_names[:2] == ("n", "n (2)")


def test_counts_whose_files_name_the_genes_in_another_order_are_joined():
    genes = [f"ENSG{i:08d}" for i in range(5)]
    files = {
        f"s{k}.counts.txt": "".join(f"{gene}\t{10 * k + i}\n" for i, gene in [*enumerate(genes)][::step])
        for k, step in ((1, 1), (2, -1))
    }
    data = read(archive(files))
    assert data.X.tolist() == [[10, 11, 12, 13, 14], [20, 21, 22, 23, 24]]
    files["s3.counts.txt"] = "".join(f"{gene}\t1\n" for gene in [*genes[:-1], "ENSG9"])
    with pytest.raises(InvalidData, match="must name the same genes"):
        read(archive(files))


def test_a_protein_table_of_one_sample_is_no_table_of_samples():
    raw = b"Protein IDs\tMajority protein IDs\tIntensity s1\tid\n"
    raw += b"".join(b"P%d\tP%d\t%d\t%d\n" % (i, i, 3 * i, i) for i in range(9))
    with pytest.raises(InvalidData, match='two samples at least, and this has "Intensity s1" alone'):
        read(raw)


def test_a_peptide_table_of_fragpipe_has_its_samples_in_columns():
    names = [f"s{i}" for i in range(4)]
    head = ["Peptide Sequence", "Modified Sequence", "Charge", "Protein ID", "Gene"]
    lines = [[*head, *(f"{name} Intensity" for name in names)]]
    lines += [
        [f"PEP{i}", f"PEP{i}[16]", "2", f"P{i}", f"G{i}", *(str(9 * i + k) for k in range(4))]
        for i in range(6)
    ]
    data = read("\n".join(map("\t".join, lines)).encode())
    assert data.X.shape == (4, 6) and [*data.sample_names] == names and data.feature_names[1] == "PEP1[16]"
