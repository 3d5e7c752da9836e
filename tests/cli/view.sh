. "$SRC/tests/fixtures/tiny.sh"
view() { emmy view --prior "$tiny_prior" "$@"; }
view pools --sort -golden_rank --limit 2 "$tiny"
view candidates --pool softmax.256 --limit 3 "$tiny"
view candidates --pool softmax.256 --filter golden:yes --csv "$tiny"
view features --pool mm.64 --a pick --b golden "$tiny" | head -n 12
view features --pool mm.64 --a 1 --b 2 --json --filter feature:D_threads "$tiny"
view cards --filter pools:4 --csv "$tiny"
view feature_registry --filter feature:D_smem "$tiny"
view skipped "$tiny"
status view candidates --pool m "$tiny"
status view candidates --pool sofmax.256 "$tiny"
status view features --pool mm.64 --a nothing "$tiny"
echo "== the trees of the prior, and what is routed"
view trees "$tiny"
edited "$tiny" routed.json 's/"rows": \[/"routing": [{"parent":"k_matmul_9a5a04","arm":{"REDUCE":"g2a"},"children":["k_softmax_204e7f"]}],\n &/'
view routing routed.json
view routing --csv "$tiny"
emmy db import --db routed.db routed.json >/dev/null
view routing --json routed.db
echo "== recorded rows, alike from a golden file, a store and a dataset; of many sites they are whole"
repl() { emmy repl --prior "$tiny_prior" --csv "$@"; }
tiny_dataset d
for s in "$tiny" store.db d; do
  repl -c "select row, us from measurements where pool in (select pool from pools where golden_rank is not null) order by row" "$s" >rows
  [ -e first ] || cp rows first
  cmp first rows
  repl -c "select count(*) from measurements m, candidates(m.pool) c where c.row = m.row and c.us = m.us" "$s"
done
cat first
sites=$(i=10; while [ $i -lt 60 ]; do printf '"REDUCE@map.%d\\/reduce":"coop",' $i; i=$((i + 1)); done)
edited "$tiny" sites.json "s/\"REDUCE\":\"coop\/r2\",/$sites/"
repl -c "select json_valid(row), length(row) > 1000, knob(row, 'REDUCE@map.59/reduce') from measurements where row like '{%'" sites.json
