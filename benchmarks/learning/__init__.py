"""Learning experiments: which claims about training hold here, at tiny size, over seeds, on processors alone.

`table.py` says what is compared, `budgets.py` how long each run takes, `runner.py` runs it in pieces, `results.py`
turns run folders into the numbers that are kept, `claims_page.py` turns these into pages with figures.
"""
