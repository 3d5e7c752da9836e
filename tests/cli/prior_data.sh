# The shipped prior is what the shipped golden files give, byte for byte.  That threads do not matter is tested on
# smaller data (pipeline, test_fit_run).
[ -z "$QUICK" ] || skip "a whole fit takes long under sanitizers"
need "$SRC/data/prior/schedule.json"
emmy db import --db store.db "$SRC"/data/golden/*.json >/dev/null
emmy db export --db store.db dataset >/dev/null
emmy fit --folds 0 --out fit dataset prior.json >/dev/null
cmp prior.json "$SRC/data/prior/schedule.json" || echo "run make prior"
