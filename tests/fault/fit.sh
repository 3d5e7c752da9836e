# Whatever fails while a fit is written, or kills it: the old prior stays, folders are whole or empty.
. "$SRC/tests/fixtures/tiny.sh"
tiny_dataset d
fit() { "$EMMY" fit --iterations 2 --folds 0 "$@"; }
fit d new.json --out folder >/dev/null
cp "$tiny_prior" w.json
after() {
  cmp -s w.json "$tiny_prior" || cmp -s w.json new.json || echo "point $1: not a whole prior"
  for f in _tune/fits/*; do
    case $f in *.tmp-*) continue ;; esac
    [ -z "$(ls -A "$f" 2>/dev/null)" ] || diff -r "$f" folder || echo "point $1: half a folder"
  done
  rm -rf _tune
  cp "$tiny_prior" w.json
}
for at in write:json write:_tune fsync:json rename:w.json rename:_tune mkdir:_tune; do
  echo "== $at"
  cp "$tiny_prior" w.json
  rm -rf _tune
  each_kill $at after "$EMMY" fit --iterations 2 --folds 0 d w.json
  each_point $at ENOSPC after "$EMMY" fit --iterations 2 --folds 0 d w.json
  cat ways
done 2>/dev/null
fit d w.json >/dev/null
cmp w.json new.json
ls | grep -v -e -shm -e -wal
