"""Kinds derived from stored evidence by pure functions, so that an old night can be judged anew."""
