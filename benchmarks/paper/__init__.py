"""The numbers of the RAPID paper, made again and set beside the printed ones: ``python -m benchmarks.paper kappa``."""
