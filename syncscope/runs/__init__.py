"""A whole program under a scope: how it is started as Python would, and the record of what it did."""
