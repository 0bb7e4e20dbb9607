"""The soak: random sets, criteria, metrics, ways of running and formats, for as long as one likes.

Most clips are judged against a brute force; the rest of the time goes to checks that two ways to one result
give the same bits. `python -m tests.soak` runs it, `test_soak.py` is its short form.
"""
