"""The packages of the wheel: every folder with an __init__.py below the four top ones, as part of synthrisk."""

from setuptools import find_packages, setup

_TOP = ("metrics", "conf", "tasks", "flows")

setup(
    packages=[f"synthrisk.{p}" for p in find_packages(include=[f"{top}{rest}" for top in _TOP for rest in ("", ".*")])],
    package_dir={f"synthrisk.{top}": top for top in _TOP},
)
