#!/bin/bash
# tryall.sh DIR [REF]: a fresh clone of REF (main), everything applied, and set up for tests (.lib)
rm -rf "$1"; git clone -q -s . "$1" && cd "$1" && git checkout -q "${2:-main}" && later/house/apply.sh "$1" && (cd /; .venv/bin/python later/house/installed.py "$1")
