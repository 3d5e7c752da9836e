# A golden file that is formatted in place is whole at each moment.
. "$SRC/tests/fixtures/tiny.sh"
tr '\n' ' ' <"$tiny" >loose.json
cp loose.json f.json
after() {
  cmp -s f.json loose.json || cmp -s f.json "$tiny" || echo "point $1: not a whole file"
  cp loose.json f.json
}
for op in open write fsync rename; do
  echo "== $op"
  each_kill $op:f.json after "$EMMY" golden format f.json -o f.json
  each_point $op:f.json ENOSPC after "$EMMY" golden format f.json -o f.json
  cat ways
done 2>/dev/null
emmy golden format f.json -o f.json
cmp f.json "$tiny"
ls
