"""Commands that start or control measurements: run, scan, retest, samples, nightly runs and the request worker."""
