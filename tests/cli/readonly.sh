# Folders and files that must not be written.
. "$SRC/tests/fixtures/tiny.sh"
[ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
tiny_dataset d
mkdir ro
cp store.db ro/t.db
cp "$tiny" ro/tiny.json
chmod 500 ro
chmod 400 ro/t.db
trap 'chmod -R u+w ro' EXIT
exec 2>&1
status emmy db import --db ro/new.db "$tiny"
status emmy db import --db ro/t.db "$tiny"
status emmy db import --db ro/t.db --fresh "$tiny"
emmy db list --db ro/t.db --csv
status emmy db export --db store.db ro/d
status emmy fit --iterations 2 --folds 0 d ro/w.json
status emmy golden format "$tiny" -o ro/tiny.json
status emmy eval prior d --prior "$tiny_prior" --json ro/r.json >/dev/null
ls ro
