"""How much a piece of code may read from the device, and what it did read. Imports no torch."""
