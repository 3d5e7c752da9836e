# The argument `prior` of tables: the same pools under another prior, beside the session's own.
. "$SRC/tests/fixtures/tiny.sh"
repl() { emmy repl --csv --prior "$tiny_prior" "$@" "$tiny"; }
tiny_dataset d
emmy fit --iterations 4 --depth 2 --folds 0 d fit.json >/dev/null

repl -c "select p.kernel, p.golden_rank, q.golden_rank as fitted from pools p join pools(null, null, 'fit.json') q using (pool)"
echo "== as a session of that prior says"
for view in "pools(null, null" "candidates('mm.64'" "contributions('mm.64', 'pick', 'golden'" "importance(" "ranks(" "splits(" "trees("; do
  name=${view%%(*}
  case $view in *"(") call="${view}'fit.json')" ;; *) call="$view, 'fit.json')" ;; esac
  repl -c "select * from $call" >other.csv
  emmy repl --csv --prior fit.json -c "select * from $name${view#"$name"})" "$tiny" >own.csv
  cmp other.csv own.csv && wc -l <own.csv
done
echo "== the option is the argument's default"
emmy view trees --prior fit.json --csv "$tiny" | cut -d, -f1-3
emmy view candidates --prior fit.json --pool mm.64 --limit 1 "$tiny" | tail -n 1
echo "== errors"
status repl -c "select * from candidates('mm.64', 'none.json')"
cp "$tiny" golden.json
status repl -c "select * from ranks('golden.json')"
status repl -c "select * from trees('fit.json', 2)"
