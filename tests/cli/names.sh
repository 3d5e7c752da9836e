# Control characters in names reach no terminal: escaped in tables and messages, and in CSV on a terminal.
. "$SRC/tests/fixtures/tiny.sh"
edited "$tiny" odd.json 's/"name":"softmax.256"/"name":"soft\\u001b[2Jmax\\u0007\\u009b"/'
emmy explore --prior "$tiny_prior" odd.json >table
emmy explore --prior "$tiny_prior" --json odd.json >json
emmy golden format odd.json >formatted
status emmy view candidates --prior "$tiny_prior" --pool "$(printf 'no\033[2J')" odd.json 2>message
edited "$tiny" bad.json 's/"kernel":"k_softmax[^"]*"/"kernel":"k\\u001b[2Jx"/'
status emmy golden format bad.json 2>message2
raw() { LC_ALL=C tr -d '\n\040-\176\302\267' <"$1" | wc -c; }
for f in table json formatted message message2; do echo "$f: $(raw $f) control characters"; done
grep -o 'soft.*max[^ ]*' table
cat message message2
odd=$(printf 'od\377d.json') # a file's name need not be text; what is written of it must be
if cp "$tiny" "$odd" 2>/dev/null; then
  emmy db import --db store.db --fresh "$odd" >/dev/null
  emmy db export --db store.db --pool-sample 10 dataset >/dev/null
  emmy view sources --prior "$tiny_prior" --json dataset | iconv -f utf-8 -t utf-8 >/dev/null
fi
command -v script >/dev/null || skip "script is not here"
script -qec "\"$EMMY\" view pools --prior \"$tiny_prior\" --csv odd.json" typescript >/dev/null
LC_ALL=C grep -c "$(printf 'max\007')" typescript || true
grep -c 'soft\\x1b\[2Jmax\\x07' typescript
