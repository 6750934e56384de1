"""Command line of the package, ``nspca`` and ``python -m nspca``: a thin layer over the public API.

    entry        the parser of all commands, and `main`, which makes an error one sentence and an exit status
    arguments    how commands and their arguments are declared, and those that several commands share
    screen       output as text, JSON and tables, and the progress bar
    sources      SOURCE and DATA: a sample, a file or a folder of shards becomes a problem
    answers      text, JSON and tables of an answer
    loadings     components of the user, read from CSV or JSON
    completion   scripts for shell completion, made from the parser

There is a module for each command, or for two that belong together: solve, sweep, run, read, proof (certify,
verify), plan (plan, shard), samples (samples, fetch), papers, app (app, backup), mcp. A command is a function
with the decorator `command`, which names its arguments, and its docstring is the help. Computations are
imported only when a command runs, so that ``--help`` is quick.
"""
