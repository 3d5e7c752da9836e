. "$SRC/tests/fixtures/tiny.sh"
tiny_dataset d
emmy eval prior d --prior "$tiny_prior" --features --json report.json
grep -c '"rank":' report.json
emmy eval prior d --prior "$tiny_prior" --kernel softmax | head -n 3
status emmy eval prior d --prior "$tiny_prior" --kernel nothing
echo "== the first table alone"
emmy eval prior d --prior "$tiny_prior" --csv --features
emmy eval prior d --prior "$tiny_prior" --md | head -n 3
emmy view ranks --prior "$tiny_prior" --by each --csv d | cut -d, -f1-6
status emmy eval prior d --prior "$tiny_prior" --csv --md
echo "== a dataset without a column that the prior splits on"
emmy db export --db store.db --features '@schedule,-D_threads' less | tail -n 1
emmy eval prior less --prior "$tiny_prior" --csv | head -n 2
cat >crooked.json <<'JSON'
{"feat_ver": 101, "space": "schedule", "kind": "catboost", "cols": ["D_cells", "D_threads", "S_ext_n_symbolic_axis"],
 "params": {"scale": 1}, "model": {"features_info": {"float_features": [
  {"borders": [2]}, {"borders": [64]}, {"borders": []}]},
 "trees": [{"split": {"split_index": 1}, "left": {"value": 1}, "right": {
  "split": {"split_index": 0}, "left": {"value": 2}, "right": {"value": 3}}}]}}
JSON
emmy eval prior less --prior crooked.json --features | sed -n '/^features/,$p' | cut -c1-60
