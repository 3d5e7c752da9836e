. "$SRC/tests/fixtures/tiny.sh"
cp "$tiny" tiny.json
emmy db import --db a/b/t.db tiny.json
emmy db import --db a/b/t.db tiny.json
echo "== a better and a worse time, and another store"
edited tiny.json faster.json 's/"emmy_us":4.5/"emmy_us":4.25/; s/"emmy_us":2.5/"emmy_us":2.75/'
emmy db import --db a/b/t.db faster.json
emmy db import --db u.db --json a/b/t.db
emmy db list --db u.db
emmy db list --db u.db --sort -rows --limit 1 --md
emmy db check --db u.db
echo "== fresh"
emmy db import --db a/b/t.db --fresh --csv tiny.json faster.json
emmy db list --db a/b/t.db --csv
emmy db import --db a/b/t.db --fresh a/b/t.db
emmy db list --db a/b/t.db --csv
ls a/b | grep -v -e -shm -e -wal
echo "== the default store"
emmy db import tiny.json >/dev/null
ls "$XDG_CACHE_HOME/emmy"
emmy db check | head -n 5
echo "== errors leave the store as it is"
cp a/b/t.db before.db
echo '{' >bad.json
status emmy db import --db a/b/t.db tiny.json bad.json
status emmy db import --db a/b/t.db --fresh bad.json
status emmy db import --db a/b/t.db --fresh absent.json
cmp a/b/t.db before.db
echo "not a store" >notes.txt
status emmy db import --db notes.txt tiny.json
status emmy db import --db notes.txt --fresh tiny.json
cat notes.txt
status emmy db import --db none.db absent.json
status emmy db list --db none.db
ls | grep -v -e -shm -e -wal
