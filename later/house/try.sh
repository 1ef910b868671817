#!/bin/bash
# try.sh DIR mapping...: a fresh copy of main at DIR, transformed
D=$1; shift
rm -rf "$D"; git clone -q -s . "$D" && cd "$D" && mkdir -p .lib/synthrisk && for d in metrics conf tasks flows; do ln -s $D/$d .lib/synthrisk/$d; done
PATH=.venv/bin:$PATH .venv/bin/python later/house/tool.py "$D" "$@"
