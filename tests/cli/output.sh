# A reader that goes away is no failure; an output that cannot be written is one.
sh -c '"$EMMY" target list --csv; echo "status $?" >&2' 2>rc | head -n 1
cat rc
[ -c /dev/full ] || skip "/dev/full is not here"
full() { # COMMAND...
  if emmy "$@" >/dev/full; then echo "$1: status 0"; else echo "$1: status $?"; fi
}
full target list
full --help
full help
full view --help
full kernel new matmul 64 64 64
full golden format "$SRC/tests/fixtures/tiny.json"
sh -c '"$EMMY" --help >&-' || echo "closed: status $?"
