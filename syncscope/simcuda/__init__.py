"""A simulated CUDA device: tensors stay on the CPU, a placement remembers which live on ``cuda:0``."""
