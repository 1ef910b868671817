"""The commands, a file each: what each takes, checks and runs; what is printed is laid out in ``terminal``."""
