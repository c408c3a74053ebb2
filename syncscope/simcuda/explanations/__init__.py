"""What is known of a name that a report shows: what it is, why it waits, how much, what is done instead."""
