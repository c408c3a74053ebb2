"""The latency of old and new over a matrix of cases: a row a case, on disk as soon as it is there."""
