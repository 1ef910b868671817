#!/bin/bash
# tryb.sh DIR REF mapping...: fresh copy of REF of . at DIR, transformed
D=$1; R=$2; shift 2
rm -rf "$D"; git clone -q -s . "$D" && cd "$D" && git checkout -q "$R" && mkdir -p .lib/synthrisk && for d in metrics conf tasks flows; do ln -s $D/$d .lib/synthrisk/$d; done
PATH=.venv/bin:$PATH .venv/bin/python later/house/tool.py "$D" "$@"
