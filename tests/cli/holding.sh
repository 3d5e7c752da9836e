# A store that another process holds: writers say so at once, readers read.
. "$SRC/tests/fixtures/tiny.sh"
command -v flock >/dev/null || skip "flock is not here"
tiny_store t.db
edited "$tiny" more.json 's/"emmy_us":4.5/"emmy_us":4.25/'
before=$(sum_of t.db)
flock t.db.lock sh -euc '
  "$EMMY" db import --db t.db more.json || echo "status $?"
  "$EMMY" db import --db t.db --fresh more.json || echo "status $?"
  "$EMMY" db list --db t.db --csv'
[ "$(sum_of t.db)" = "$before" ]
emmy db import --db t.db more.json
