# Results stream: a reader that goes away ends the program quietly, a full disk does not, and memory stays flat.
. "$SRC/tests/fixtures/tiny.sh"
repl() { emmy repl --prior "$tiny_prior" "$@"; }
endless="with recursive c(x) as (values (1) union all select x + 1 from c) select x from c"

echo "== head"
for format in '' --csv --json --md; do
  { repl $format -c "$endless" "$tiny" || echo "status $?" >&2; } | head -n 1 >first
  wc -l <first
done
{ printf '%s;\nselect 1;\n' "$endless" | repl --csv "$tiny" || echo "status $?" >&2; } | head -n 2

echo "== standard input that is no text, or cannot be read"
printf 'select 1;\nselect\0 2;\nselect 3;\n' | repl --csv "$tiny" || echo "status $?"
printf 'select 1;\nselect\0 2;\nselect 3;\n' | repl --csv --keep-going "$tiny" || echo "status $?"
mkdir folder
repl "$tiny" <folder || echo "status $?"

echo "== a full disk"
[ -c /dev/full ] || skip "/dev/full is not here"
repl --csv -c "$endless" "$tiny" >/dev/full || echo "status $?"

echo "== many rows in little memory"
# Sanitizers reserve address space that no limit allows.
rows=10000000
[ -z "$QUICK" ] || rows=100000
[ -n "$QUICK" ] || ulimit -v 1000000
repl --csv -c "$endless limit $rows" "$tiny" | tail -n 1 | sed "s/^$rows\$/the last one/"
