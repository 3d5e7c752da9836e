# Measured pools: reports, the metrics file of a fit and its views, two fits side by side.
. "$SRC/tests/fixtures/tiny.sh"
tiny_measured d
emmy eval prior d --prior "$tiny_prior" --pools measured --json report.json
sed -n '/"per_measured"/,/^ }/p' report.json
emmy eval prior d --prior "$tiny_prior" --pools both --json both.json | grep -c '^NVIDIA\|^rtx4080'
grep -c '"half": "golden"\|"half": "measured"' both.json
emmy eval prior d --prior "$tiny_prior" --pools both --kernel softmax | grep -c softmax
emmy eval prior d --prior "$tiny_prior" --pools both --csv | cut -d, -f1-6
echo "== fits"
fit="emmy fit --iterations 8 --depth 3 --folds 2 d"
$fit a.json --threads 1 >one
$fit two.json --threads 2 >two
diff -r _tune/fits/0001 _tune/fits/0002
sed -n '/^figures on/,$p' one
emmy fit --iterations 1 --depth 1 --folds 2 --labels both d b.json >/dev/null
emmy view fit_measured --fit 0003 --prior "$tiny_prior" "$tiny" --csv | cut -d, -f1-5,9,10
emmy view fit_measured_pools --fit 0001 --prior "$tiny_prior" "$tiny"
emmy compare 0001 0003 | sed -n '/measured pools/,$p' | head -n 3
emmy repl --prior "$tiny_prior" "$tiny" -c "select pool, regret1, holdout_regret1, fold from fit_measured_pools('0001')"
echo "== labels"
tiny_measured only
sed '/^  {"key".*golden_ids/d' d/manifest.json >only/manifest.json
emmy fit --iterations 2 --folds 0 --labels measured only m.json | sed -n 1,3p
emmy compare 0004 0004 | tail -n 1
status emmy fit --iterations 2 --folds 0 only m.json
echo "== nothing to report on"
status emmy eval prior d --prior "$tiny_prior" --pools measured --kernel nothing
tiny_dataset none
status emmy eval prior none --prior "$tiny_prior" --pools measured
emmy eval prior none --prior "$tiny_prior" --pools both | tail -n 9
status emmy eval prior none --pools some
