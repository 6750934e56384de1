# %% [markdown]
# # Parts of faces
#
# With nonnegative weights parts add up and do not cancel. Five components of forty pixels that share none:
# which parts does a heap of faces fall into?
#
# It runs on the CBCL faces where `NSPCA_DATA` has them, and on made-up ones elsewhere. What stands below
# came from:

# %%
import nspca
from nspca.numerals import format_guarantee

data = nspca.load_sample("cbcl")
rows, columns = data.image_shape
print(data.name, data.X.shape, f"{rows} x {columns} pixels")

# %% [markdown]
# ## One part
#
# Forty pixels that vary together more than any other forty, up to what the last line says.

# %%
problem = nspca.Problem.from_data(data.X, k=40)
one = nspca.solve(problem)


def draw(components):
    """Pixels as the number of their component."""
    picture = [["."] * columns for _ in range(rows)]
    for number, component in enumerate(components.T, start=1):
        for j in component.nonzero()[0]:
            picture[j // columns][j % columns] = str(number)
    print("\n".join(" ".join(line) for line in picture))


draw(one.components)
print("at least", format_guarantee(one.ratio), "of the optimum")

# %% [markdown]
# ## Five parts, together
#
# Taken one after another, the first would get the best pixels and the others what is left. Here the five
# are found together, and the certificate bounds what they explain in all.

# %%
together = nspca.solve(problem.with_k((40,) * 5))
draw(together.components)
print(f"{together.value / problem.total_variance:.1%} of the variance")
print("at least", format_guarantee(together.ratio), "of the optimum")

# %% [markdown]
# One after another:

# %%
in_turn = nspca.solve(problem, components=5, certify=None)
print(f"{in_turn.value / problem.total_variance:.1%} of the variance")

# %% [markdown]
# ## Against the largest weights of ordinary PCA
#
# The forty largest entries of the leading eigenvector, the usual short cut, and what it leaves behind:

# %%
short_cut = nspca.solve(problem, "threshold", certify=None)
print(f"{100 * short_cut.value / one.value:.1f} % of what the first part explains")
