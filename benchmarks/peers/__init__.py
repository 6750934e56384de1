"""Compare this package with other packages on the same data in one run: ``python -m benchmarks.peers``.

`tables` has the data and `contenders` the packages. `measuring` runs one contender in a process of its own,
and `scoring` values a loading. `race` runs the rounds. `report` and `picture` show the results.
"""
