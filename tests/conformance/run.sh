#!/bin/sh
# run.sh TOOLS [PART...] - models and scores, ours and CatBoost's, both ways, and explanations; TOOLS is the
# folder of the programs. The parts `speed`, `explain_speed` and `fit_speed` compare times instead, `fit` held-out ranks.
#
# CatBoost lives in a virtual environment of its own, build/conformance/venv, made
# anew when requirements.txt changes.  Nothing but this suite ever uses it.
set -eu
tools=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
here=tests/conformance
venv=build/conformance/venv
if ! cmp -s $here/requirements.txt $venv/installed; then
  rm -rf $venv
  python3 -m venv $venv
  $venv/bin/pip install --quiet --disable-pip-version-check -r $here/requirements.txt
  cp $here/requirements.txt $venv/installed
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- theirs ours fits explain
for part; do
  more=
  case $part in
    fits) tool=./emmy more=$tools ;;
    fit | fit_speed) tool=./emmy ;;
    explain | explain_speed) tool=$tools/explain_tool ;;
    *) tool=$tools/score_tool ;;
  esac
  # A pipe keeps the figures coming while a long part runs; it has no status of its own.
  { $venv/bin/python $here/"$part".py "$tool" "$work" ${more:+"$more"} || touch "$work/failed"; } | tee -a "$work/all"
done
# One line for all parts that count.
sed -n 's/.*: \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$work/all" |
  awk '{ passed += $1; failed += $2 } END { if (NR) print passed + 0 " passed, " failed + 0 " failed" }'
[ ! -e "$work/failed" ]
