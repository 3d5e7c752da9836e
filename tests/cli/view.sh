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
