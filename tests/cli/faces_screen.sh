# Every view of views.def as a screen of the explorer, with the arguments of views.txt.
. "$SRC/tests/fixtures/faces.sh"
steps() {
  echo ":open $*"
  echo ":dump-screen $1.screen"
}
each_view steps >keys
COLUMNS=100 LINES=20 emmy explore --script keys --prior tiny-prior.json tiny.json routing.json
dump() {
  echo "== $*"
  cat "$1.screen"
}
each_view dump
[ "$(ls ./*.screen | wc -l)" -eq "$(grep -c '^VIEW(' "$SRC/views/views.def")" ] && echo "== every view has a screen"
