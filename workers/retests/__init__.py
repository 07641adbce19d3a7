"""Re-tests of one server: the request, its admission, its run, and the full probe that follows.

The pages and the API for requests are in `publish`.
"""
