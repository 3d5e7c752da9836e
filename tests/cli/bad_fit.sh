# Datasets that a fit cannot use, or uses in a way that has to be said; nothing is written where it fails.
. "$SRC/tests/fixtures/tiny.sh"
exec 2>&1
tiny_measured good
copy() { rm -rf bad && cp -R good bad; }
fails() { # WHAT OPTION...
  echo "== $1"
  shift
  status emmy fit --iterations 2 --depth 2 --folds 0 "$@" bad w.json
  ls -d w.json _tune/fits/* 2>/dev/null || true
}
copy && sed '/^  {"key"/d' good/manifest.json >bad/manifest.json && fails "no pools"
fails "no measured pools" --labels measured
copy && edited good/manifest.json bad/manifest.json 's/"golden_ids":\[[0-9]*\]/"golden_ids":[]/' && fails "pools without a recorded row"
copy && edited good/manifest.json bad/manifest.json 's/"latency_us":\[20,/"latency_us":[0,/' && fails "a latency that is no time"
copy && edited good/manifest.json bad/manifest.json 's/"latency_us":\[20,/"latency_us":[1e999,/' && fails "a latency without end"
# Six numbers of the first row: +infinity, then what was there.
header=$(head -n 1 good/golden/0001.npy | wc -c)
infinite() { # FILE: its first number
  { head -c "$header" "$1"; printf '\000\000\000\000\000\000\360\177'; tail -c +$((header + 9)) "$1"; } >inf.npy && mv inf.npy "$1"
}
copy && infinite bad/golden/0001.npy && fails "an infinity" --features "$(sed -n 's/.*"key":"[^"]*matmul.*"feat_names":\["\([^"]*\)".*/\1/p' good/manifest.json),D_cells"
copy && fails "a learning rate out of range" --learning-rate 0
fails "a depth out of range" --depth 11
fails "a column that no pool has" --features D_no_such_column
echo "== one pool"
sed '/^  {"key".*linear/d; s/^\(  {"key".*golden_ids.*\),$/\1/' good/manifest.json >bad/manifest.json
emmy fit --iterations 8 --depth 3 --folds 2 bad w.json --csv | cut -d, -f1-4
sed -n '/"excluded"/,/}/p' _tune/fits/0001/metrics.json
echo "== one pool, and nothing to stop by"
status emmy fit --iterations 8 --depth 3 --folds 2 --early-stopping 2 bad w2.json
echo "== more folds than shapes"
emmy fit --iterations 2 --depth 2 --folds 5 good w.json --csv --out many | cut -d, -f1-3
sed -n '/"excluded"/,/}/p' many/metrics.json
echo "== more folds than cards"
emmy fit --iterations 2 --depth 2 --folds 5 --hold-out card good w.json --csv --out cards | cut -d, -f1-3
sed -n '/"excluded"/,/}/p; /"hold_out"/p' cards/metrics.json
echo "== where the results cannot go, said before the training"
rm -rf bad && mkdir place && mv good place && cd place
for where in "" folder/ good/w.json good/manifest.json; do status emmy fit --iterations 100000 good "$where"; done
status emmy fit --iterations 100000 good w.json --out ""
status emmy fit --iterations 100000 good both/deep/w.json --out both/
status emmy fit --iterations 100000 good ./both --out "$PWD/both"
status emmy fit --iterations 100000 good w.json --out good
status emmy eval prior good --json good/manifest.json
ls -A . _tune/fits
