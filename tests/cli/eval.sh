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
