# The examples of emmy.7 print what it says.
need "$SRC/data/prior/schedule.json"
ln -s "$SRC/data" data
# Between .Bd and .Ed: a line "$ command" and what it prints; \e is a backslash of mdoc.
awk '/^\.Bd/ { inside = 1; next } /^\.Ed/ { inside = 0; next } inside' "$SRC/man/emmy.7" | sed 's/\\e/\\/g' >page
grep '^\$ ' page | while IFS= read -r line; do
  printf '%s\n' "$line"
  PATH="$(dirname "$EMMY"):$PATH" sh -c "${line#\$ }"
done >printed
[ -s printed ] && diff -u page printed
