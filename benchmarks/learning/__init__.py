"""Learning experiments: which claims about training hold here, at tiny size, over seeds, on processors alone.

`table.py` says what is compared, `budgets.py` how long each run takes, `runner.py` runs it in pieces, `results.py` and
`page.py` turn run folders into what is kept.
"""
