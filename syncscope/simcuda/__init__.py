"""A simulated CUDA device: tensors stay CPU tensors, a placement remembers which of them live on ``cuda:0``."""
