"""Other packages and this one on the same data in one run: ``python -m benchmarks.peers``.

`tables` has the data, `contenders` whoever takes part, `measuring` a run in a process of its own, `scoring`
what a loading is worth, `race` the rounds, `report` and `picture` what is shown of them.
"""
