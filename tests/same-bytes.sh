#!/bin/sh
# same-bytes.sh - the same fits by programs of gcc and clang, at -O0 and -O3: their bytes must not differ.
# Called by `make same-bytes`, which sets MAKE; ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
for cc in gcc clang; do
  if ! command -v $cc >/dev/null; then
    skipped=$((skipped + 2))
    echo "skipped: $cc is not here"
    continue
  fi
  for level in 0 3; do
    if ! $MAKE -s fit-digest CC=$cc CFLAGS="-O$level -g" >"$work/all"; then
      echo "FAILED $cc -O$level:"
      cat "$work/all"
      failed=$((failed + 1))
      continue
    fi
    grep ': [0-9a-f]\{32\}$' "$work/all" >"$work/$cc$level"
    [ -e "$work/first" ] || cp "$work/$cc$level" "$work/first"
    if [ -s "$work/first" ] && diff "$work/first" "$work/$cc$level"; then
      passed=$((passed + 1))
      echo "$cc -O$level: $(wc -l <"$work/$cc$level") fits, each with 1, 2 and 4 threads"
    else
      echo "FAILED $cc -O$level: the fits above differ from those of the first program"
      failed=$((failed + 1))
    fi
  done
done
if [ $skipped -gt 0 ]; then echo "$passed passed, $failed failed, $skipped skipped"; else echo "$passed passed, $failed failed"; fi
[ $failed -eq 0 ] && [ $passed -gt 0 ]
