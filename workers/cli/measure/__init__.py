"""Commands that start or steer measurements: run, scan, retest, samples, nightly runs and the request worker."""
