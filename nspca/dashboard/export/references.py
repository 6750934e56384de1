"""References to cite, as BibTeX, for the ZIP of an export: the four papers and the software."""

import nspca

_PAPERS = r"""@inproceedings{zass2006nonnegative,
  author    = {Zass, Ron and Shashua, Amnon},
  title     = {Nonnegative Sparse {PCA}},
  booktitle = {Advances in Neural Information Processing Systems 19},
  year      = {2006},
  pages     = {1561--1568}
}

@inproceedings{sigg2008expectation,
  author    = {Sigg, Christian D. and Buhmann, Joachim M.},
  title     = {Expectation-Maximization for Sparse and Non-Negative {PCA}},
  booktitle = {Proceedings of the 25th International Conference on Machine Learning},
  year      = {2008},
  pages     = {960--967}
}

@inproceedings{asteris2014nonnegative,
  author    = {Asteris, Megasthenis and Papailiopoulos, Dimitris S. and Dimakis, Alexandros G.},
  title     = {Nonnegative Sparse {PCA} with Provable Guarantees},
  booktitle = {Proceedings of the 31st International Conference on Machine Learning},
  series    = {Proceedings of Machine Learning Research},
  volume    = {32},
  number    = {2},
  year      = {2014},
  pages     = {1728--1736}
}

@inproceedings{asteris2015sparse,
  author    = {Asteris, Megasthenis and Papailiopoulos, Dimitris and Kyrillidis, Anastasios and Dimakis,
  Alexandros G.},
  title     = {Sparse {PCA} via Bipartite Matchings},
  booktitle = {Advances in Neural Information Processing Systems 28},
  year      = {2015},
  pages     = {766--774}
}
"""


def bibtex() -> bytes:
    """Return the BibTeX entries of the four papers and of the running version of the software."""
    software = f"""
@misc{{nspca,
  author = {{{{the nspca authors}}}},
  title  = {{nspca: sparse and nonnegative sparse {{PCA}} with certificates}},
  note   = {{Software, version {nspca.__version__}, BSD-3-Clause}}
}}
"""
    return (_PAPERS + software).encode()
