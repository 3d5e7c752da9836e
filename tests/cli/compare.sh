# Two fits side by side; the verdict, and the exit status of a regression.
. "$SRC/tests/fixtures/tiny.sh"
tiny_dataset d
emmy fit --iterations 8 --depth 3 --folds 2 d a.json >/dev/null
emmy fit --iterations 1 --depth 1 --folds 2 d b.json >/dev/null
emmy fit --iterations 1 --depth 1 --folds 0 d c.json >/dev/null
emmy compare 0001 _tune/fits/0002
emmy compare --csv _tune/fits/0001/metrics.json 0002 | cut -d, -f1-6
emmy compare --json --filter verdict:shown --limit 1 0001 0002 >one
emmy compare --json --filter verdict:shown --limit 1 0001 0002 | cmp - one
emmy compare 0001 0003 | tail -n 1
# Twenty pools, each ranked twice as badly.
made() { # FACTOR
  awk -v f="$1" 'BEGIN {
    printf "{\"header\":{},\"full_train\":{\"per_golden\":{}},\"cv\":{\"holdout_per_golden\":{"
    for (i = 0; i < 20; i++) printf "%s\"card/p%02d\":{\"rank\":%d,\"rank_optimistic\":0,\"pool\":50}", i ? "," : "", i, f * (i + 1) - 1
    print "}}}" }'
}
made 1 >x.json
made 2 >y.json
status emmy compare --fail-on-regression x.json y.json
status emmy compare --fail-on-regression y.json x.json
status emmy compare --fail-on-regression x.json x.json
echo "== errors"
sed 's/"rank":0,/"rank":-1,/' x.json >z.json
status emmy compare x.json z.json
sed 's,card/,other/,g' x.json >z.json
status emmy compare x.json z.json
status emmy compare x.json nothing
sed 's/"cv":{/&"hold_out":"card",/' x.json >z.json
status emmy compare x.json z.json
status emmy compare --fail-on-regression z.json z.json
cp "$tiny_prior" prior.json
status emmy compare x.json prior.json
