#!/bin/sh
# fuzz.sh BINARY... - runs each libFuzzer target for SECONDS_EACH seconds, from its
# corpus tests/fuzz/corpus/NAME; new inputs and crashes stay in the build folder.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
for binary in "$@"; do
  name=$(basename "$binary" | sed 's/^fuzz_//')
  seeds=tests/fuzz/corpus/$name
  mkdir -p "$BUILD/corpus/$name" "$seeds"
  log=$BUILD/corpus/$name.log
  if "$binary" -max_total_time="${SECONDS_EACH:-5}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$BUILD/corpus/crash-$name-" "$BUILD/corpus/$name" "$seeds" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
  else
    failed=$((failed + 1))
    echo "FAILED fuzz $name"
    tail -n 40 "$log" | sed 's/^/    /'
  fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
