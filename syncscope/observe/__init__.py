"""What happens in a call: a scope that records events, torch.profiler beside it, and the lines that ran."""
