# Whatever fails during an export, or kills it: the old dataset stays whole, or the new one is there whole.
. "$SRC/tests/fixtures/tiny.sh"
tiny_store t.db
emmy db export --db t.db --pool-sample 20 old >/dev/null
emmy db export --db t.db --pool-sample 30 new >/dev/null
whole() { diff -r "$1" old >/dev/null || diff -r "$1" new >/dev/null; }
after() {
  whole d || echo "point $1: not a whole dataset"
  rm -rf d
  cp -R old d
}
for at in write:/d rename:d mkdir:d.tmp fsync:/d; do
  echo "== $at"
  rm -rf d d.tmp-*
  cp -R old d
  each_kill $at after "$EMMY" db export --db t.db --pool-sample 30 d
  each_point $at ENOSPC after "$EMMY" db export --db t.db --pool-sample 30 d
  cat ways
done 2>/dev/null
emmy db export --db t.db --pool-sample 30 d >/dev/null
diff -r d new
ls -d d d.* 2>/dev/null || true
echo "== where nothing was"
after() { [ ! -e d ] || diff -r d new || echo "point $1: half a dataset"; rm -rf d; }
rm -rf d
each_kill write:/d after "$EMMY" db export --db t.db --pool-sample 30 d 2>/dev/null
ls -d d d.* 2>/dev/null || true
