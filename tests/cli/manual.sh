# The checked-in pages of the commands are those that the program writes; all pages are clean mdoc.
emmy help --man pages
for page in pages/*; do cmp "$page" "$SRC/man/$(basename "$page")"; done
for page in "$SRC"/man/*.1; do
  [ -e "pages/$(basename "$page")" ] || echo "$(basename "$page"): no command has this page"
done
for page in golden dataset prior; do [ -s "$SRC/man/emmy-$page.5" ] || echo "emmy-$page.5 is missing"; done
# Examples that need nothing but what ships can be run as they stand.
need "$SRC/data/golden"
ln -s "$SRC/data" data
sed -n 's/\\-/-/g; s/\\(dq/"/g; s/^\.Dl emmy //p' "$SRC"/man/*.1 | grep -e '^golden check' -e '^kernel' -e '^target' -e '^view' -e '^help [a-z]' >examples
[ "$(wc -l <examples)" -ge 12 ] || echo "fewer examples than there were"
while read -r example; do
  eval "emmy $example" >out 2>err </dev/null || echo "emmy $example: $(cat err)"
done <examples
command -v mandoc >/dev/null || skip "mandoc is not here"
mandoc -T lint "$SRC"/man/* 2>/dev/null | grep -v -e 'referenced manual not found' || true
