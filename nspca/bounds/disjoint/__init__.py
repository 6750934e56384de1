"""Search for the best disjoint components: prices for the features, a tree for each class of components, and
a tree over which component has which feature.

`search.strongest` runs the search. A class is the components of equal size for which the same features
are in and out.

In the order in which they use each other: `state` (features in and out for each component), `columns` (the
linear program that finds prices), `branching` (the feature to branch on, and answers without proof),
`pricing` (the bound of prices and trees), `node` (of the joint tree), `arrays` (the arrays of its
certificate), `search` (the joint tree grows).
"""
