#!/bin/bash
# check.sh DIR: static checks of a transformed checkout
cd "$1"; export PYTHONPATH=$1/.lib PATH=.venv/bin:$PATH OMP_WAIT_POLICY=passive; unset PYTHONDONTWRITEBYTECODE
ruff check . ; ruff format --check . | tail -3
nice -n 2 lint-imports 2>&1 | tail -40
MYPYPATH=$PWD/.lib nice -n 2 mypy -p synthrisk 2>&1 | tail -40
