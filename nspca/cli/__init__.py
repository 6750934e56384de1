"""The command line: ``nspca`` and ``python -m nspca``; thin over the public API.

    entry        the parser of all commands, and `main`, which makes an error one sentence and an exit status
    words        kinds of arguments, and those that several commands share
    screen       what is printed: text, JSON, tables; the bar that shows progress
    sources      SOURCE and DATA: a sample, a file or a folder of shards becomes a problem
    answers      what is said of an answer
    loadings     a component that one already has, from CSV or JSON
    completion   what the shell can fill in, made from the parser

and a file for each command, or for two that belong together: solve, sweep, proof (certify, verify),
beforehand (plan, shard), samples (samples, fetch), papers, app, copies (backup, restore). Each has `add`,
which says its words to the parser, and imports what it computes with when it runs: ``--help`` is there at
once.
"""
