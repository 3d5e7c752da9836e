# Whatever fails during an import, or kills it: the store opens, and holds all of the file or nothing of it.
. "$SRC/tests/fixtures/tiny.sh"
edited "$tiny" more.json 's/"mm.64"/"other"/; s/"softmax.256"/"another"/; s/"f2x4"/"f4x4"/'
tiny_store old.db
cp old.db before.db
emmy db import --db before.db more.json >/dev/null
counts() { emmy db check --db "$1" --csv; }
counts old.db >counts.old
counts before.db >counts.new
cmp -s counts.old counts.new && echo "the import changes nothing"
old=old.db
after() {
  counts t.db >counts || echo "point $1: the store is damaged"
  cmp -s counts counts.old || cmp -s counts counts.new || { echo "point $1: half an import"; cat counts; }
  rm -f t.db t.db-wal t.db-shm
  cp "$old" t.db
}
for op in write fsync truncate; do
  echo "== $op"
  case $op in write) step=5 ;; *) step=1 ;; esac
  cp old.db t.db
  each_kill $op:t.db after "$EMMY" db import --db t.db more.json
  each_point $op:t.db ENOSPC after "$EMMY" db import --db t.db more.json
  [ -s ways ]
done 2>/dev/null
echo "== --fresh"
cp before.db t.db
mv counts.old counts.tiny
counts before.db >counts.old
mv counts.tiny counts.new
old=before.db
for op in write fsync rename unlink; do
  echo "== $op"
  case $op in write) step=5 ;; *) step=1 ;; esac
  cp before.db t.db
  each_kill $op:t.db after "$EMMY" db import --db t.db --fresh "$tiny"
  each_point $op:t.db ENOSPC after "$EMMY" db import --db t.db --fresh "$tiny"
  [ -s ways ]
done 2>/dev/null
echo "== two sources: what the message counts is in the store"
edited more.json third.json 's/"other"/"third"/'
again() { rm -f t.db t.db-wal t.db-shm && cp old.db t.db; }
counted() { ! grep -q "^emmy: 1 of 2 sources are imported, then: t.db: cannot write: the disk is full" message || emmy db list --db t.db --csv | cut -d, -f1 >sources; again; }
points=100 step=3
again && each_point write:t.db ENOSPC counted "$EMMY" db import --db t.db more.json third.json
cat sources
again && each_point write:t.db ENOSPC again "$EMMY" db import --db t.db --fresh more.json third.json
! grep "are imported" ways || echo "--fresh imports all or nothing"
rm -f sources third.json
emmy db import --db t.db --fresh "$tiny" >/dev/null
ls | grep -v -e -shm -e -wal
