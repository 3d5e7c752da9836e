# A card that is not in the table: importing keeps it, ranking says so.
. "$SRC/tests/fixtures/tiny.sh"
edited "$tiny" other.json 's/"NVIDIA GeForce RTX 4080"/"NVIDIA GeForce RTX 9999"/'
emmy golden check other.json || echo "status $?"
emmy db import --db t.db other.json >/dev/null
emmy db check --db t.db | tail -n 1 || true
emmy explore --prior "$tiny_prior" other.json --csv | cut -d, -f1,2,10
