. "$SRC/tests/fixtures/tiny.sh"
tiny_store t.db
all() { # FILE: everything that opens it refuses, and it stays as it is
  before=$(sum_of "$1")
  status emmy db check --db "$1"
  status emmy db list --db "$1"
  status emmy db export --db "$1" out
  status emmy db import --db "$1" "$tiny"
  status emmy explore --prior "$tiny_prior" "$1"
  [ "$(sum_of "$1")" = "$before" ] || echo "$1 was changed"
}
exec 2>&1
echo "== not SQLite"
head -c 4096 /dev/zero >zeros.db
all zeros.db
echo "== cut off"
head -c 5000 t.db >short.db
all short.db
echo "== another version"
cp t.db version.db
printf '\000\000\003\350' | dd of=version.db bs=1 seek=60 conv=notrunc status=none
all version.db
echo "== another program's"
cp t.db program.db
printf '\000\000\003\350' | dd of=program.db bs=1 seek=68 conv=notrunc status=none
all program.db
echo "== which --fresh replaces"
before=$(sum_of program.db zeros.db)
for file in program.db zeros.db short.db version.db; do status emmy db import --db $file --fresh "$tiny"; done
[ "$(sum_of program.db zeros.db)" = "$before" ] || echo "another program's file was replaced"
