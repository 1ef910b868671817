"""The packages of the wheel: each folder with an __init__.py below the four top ones (pyproject.toml says where)."""

from setuptools import find_packages, setup

_TOP = ("metrics", "conf", "tasks", "flows")

setup(packages=[f"synthrisk.{p}" for p in find_packages(include=[*_TOP, *(f"{top}.*" for top in _TOP)])])
