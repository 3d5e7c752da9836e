#!/bin/sh
# run.sh [NAME...] - runs the tests and ends with "N passed, N failed".
#
# Called by `make check`, which sets BUILD (build folder), EMMY (program, empty
# while there is none) and CC.  NAMEs are patterns of test names: `make check
# T='base_* cli/import'`.  Further switches are variables of the environment:
#   TESTS="unit cli screen fault layers"   kinds to run
#   UPDATE=1                               write the expected files anew
#   QUICK=1                                tests may take smaller sizes (sanitizers)
#   JOBS=2                                 test programs at a time
#   KEEP=1                                 keep the scratch folder and say where it is
set -u

SRC=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$SRC" || exit 1
: "${BUILD:?run make check}"
case $BUILD in /*) ;; *) BUILD=$SRC/$BUILD ;; esac
case ${EMMY:=} in '' | /*) ;; *) EMMY=$SRC/$EMMY ;; esac
: "${TESTS:=unit cli screen fault layers}" "${JOBS:=2}" "${UPDATE:=}" "${QUICK:=}" "${KEEP:=}" "${CC:=cc}"
: "${EMMY_SHARED:=$SRC/../shared}" "${LIMIT:=300}"
export SRC BUILD EMMY EMMY_SHARED UPDATE QUICK CC LIMIT

# ---- one test (a call of this script by itself) -------------------------------
# Leaves $RESULTS/<id>.ok, .bad or .skip, a line per counted test, and <id>.log.

verdict() { printf '%s\n' "$2" >>"$RESULTS/$id.$1"; }

# The environment of every test: nothing of the caller's shows through.
pinned() {
  home=$SCRATCH/home
  mkdir -p "$home"
  env -i PATH="$PATH" HOME="$home" XDG_CACHE_HOME="$home/cache" XDG_CONFIG_HOME="$home/config" \
    XDG_DATA_HOME="$home/data" XDG_STATE_HOME="$home/state" TMPDIR="$SCRATCH" \
    LC_ALL=C.UTF-8 TZ=UTC TERM=dumb ESCDELAY=25 OMP_WAIT_POLICY=passive \
    SRC="$SRC" BUILD="$BUILD" EMMY="$EMMY" EMMY_SHARED="$EMMY_SHARED" QUICK="$QUICK" CC="$CC" \
    ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:allocator_may_return_null=1:verify_asan_link_order=0" \
    LSAN_OPTIONS="suppressions=$SRC/tests/lsan.supp:print_suppressions=0" \
    UBSAN_OPTIONS="print_stacktrace=1" TSAN_OPTIONS="halt_on_error=1" \
    "$@"
}

# setarch: ThreadSanitizer cannot place its shadow when addresses are too random.
limited() {
  case $(cat "$BUILD/layout") in
    fixed) pinned timeout -k 5 "$LIMIT" setarch -R "$@" ;;
    *) pinned timeout -k 5 "$LIMIT" "$@" ;;
  esac
}

run_unit() {
  (cd "$SRC" && limited env CMOCKA_MESSAGE_OUTPUT=TAP "$1") >"$log" 2>&1 </dev/null
  rc=$?
  sed -n "s|^ok [0-9]* - |$id |p" "$log" >"$RESULTS/$id.ok"
  sed -n "s|^not ok [0-9]* - |$id |p" "$log" >"$RESULTS/$id.bad"
  sed -n "s|^not ok [0-9]* # SKIP |$id |p" "$log" >"$RESULTS/$id.skip" # cmocka's spelling
  if [ "$rc" -ne 0 ] && [ ! -s "$RESULTS/$id.bad" ]; then
    echo "exit status $rc (124: over $LIMIT s)" >>"$log"
    verdict bad "$id"
  elif [ ! -s "$RESULTS/$id.ok" ] && [ ! -s "$RESULTS/$id.skip" ] && [ ! -s "$RESULTS/$id.bad" ]; then
    echo "no test was run" >>"$log"
    verdict bad "$id"
  fi
}

# compare EXPECTED GOT: or, with UPDATE, makes EXPECTED (none when GOT is empty).
compare() {
  if [ -n "$UPDATE" ] && ! same "$1" "$2"; then
    if [ -s "$2" ]; then cp "$2" "$1"; else rm -f "$1"; fi
  fi
  same "$1" "$2" && return
  [ -e "$1" ] || set -- /dev/null "$2"
  diff -u "$1" "$2" >>"$log"
  return 1
}

# Equal, or (for standard error alone) each line equal to or matched by its pattern.
same() {
  [ -e "$1" ] || { [ ! -s "$2" ]; return; }
  cmp -s "$1" "$2" && return
  case $1 in *.err) ;; *) return 1 ;; esac
  [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] || return 1
  while IFS= read -r want && IFS= read -r line <&3; do
    # shellcheck disable=SC2254 # a pattern is meant
    [ "$line" = "$want" ] || case $line in $want) ;; *) return 1 ;; esac
  done <"$1" 3<"$2"
}

# The side files of a golden test: NAME.out, NAME.err, NAME.rc.
judge() { # STEM RC
  want=0
  [ ! -e "$1.rc" ] || want=$(cat "$1.rc")
  if [ "$2" -eq 77 ] && [ "$want" -ne 77 ]; then
    verdict skip "$id $(tail -n 1 "$SCRATCH/out")"
    return
  fi
  good=1
  if [ -n "$UPDATE" ] && [ "$2" -ne "$want" ]; then
    if [ "$2" -eq 0 ]; then rm -f "$1.rc"; else echo "$2" >"$1.rc"; fi
  elif [ "$2" -ne "$want" ]; then
    good=0
    echo "exit status $2, expected $want" >>"$log"
  fi
  compare "$1.out" "$SCRATCH/out" || good=0
  compare "$1.err" "$SCRATCH/err" || good=0
  if [ $good -eq 1 ]; then verdict ok "$id"; else verdict bad "$id"; fi
}

run_shell() {
  mkdir -p "$SCRATCH/work"
  (cd "$SCRATCH/work" && limited sh -eu -c '. "$SRC/tests/lib.sh"; . "$1"' sh "$1") \
    >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
  judge "${1%.sh}" $?
}

# The value of a "# key: value" line of a screen script.
directive() { sed -n "s/^# *$1: *//p" "$2" | head -n 1; }

# Plays the keys; what the script dumped into *.txt is put together in the order of names.
run_screen() {
  size=$(directive size "$1")
  : "${size:=80x24}"
  mkdir -p "$SCRATCH/work"
  (cd "$SCRATCH/work" && eval "$(directive setup "$1")") >/dev/null
  (cd "$SCRATCH/work" && eval "limited env LINES=${size#*x} COLUMNS=${size%x*} $(directive env "$1") \
    \"\$EMMY\" explore $(directive args "$1") --script \"\$1\"") >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
  rc=$?
  for dump in "$SCRATCH/work"/*.txt; do
    [ -e "$dump" ] || continue
    printf '== %s\n' "$(basename "$dump")"
    cat "$dump"
  done >"$SCRATCH/screen"
  [ -s "$SCRATCH/screen" ] || [ $rc -eq 77 ] || echo "the script dumped no screen" >>"$log"
  if [ $rc -ne 77 ] && ! { [ -s "$SCRATCH/screen" ] && compare "${1%.script}.screen" "$SCRATCH/screen"; }; then
    cat "$SCRATCH/err" >>"$log"
    verdict bad "$id"
    return
  fi
  judge "${1%.script}" $rc
}

run_layers() { # one check of check-layers.sh
  if tests/check-layers.sh "$1" >"$log" 2>&1; then verdict ok "$id"; else verdict bad "$id"; fi
}

if [ "${1-}" = --one ]; then
  kind=$2
  case $kind in unit) id=$(basename "$3") ;; layers) id=layers.$3 ;; *) id=$kind.$(basename "${3%.*}") ;; esac
  log=$RESULTS/$id.log
  SCRATCH=$WORK/$id
  mkdir -p "$SCRATCH"
  : >"$log"
  case $kind in
    unit) run_unit "$3" ;;
    cli | fault) run_shell "$SRC/$3" ;;
    screen) run_screen "$SRC/$3" ;;
    layers) run_layers "$3" ;;
  esac
  [ -n "$KEEP" ] || rm -rf "$SCRATCH"
  exit 0
fi

# ---- all tests ----------------------------------------------------------------

wanted() { # TEST NAME: is it among the patterns?
  [ -n "$patterns" ] || return 0
  set -f
  for p in $patterns; do
    # shellcheck disable=SC2254 # a pattern is meant
    case $1 in $p | test_$p) set +f; return 0 ;; esac
  done
  set +f
  return 1
}

list_tests() {
  for kind in $TESTS; do
    case $kind in
      unit) for t in tests/unit/test_*.c; do t=$(basename "$t" .c); ! wanted "$t" || echo "unit $BUILD/unit/$t"; done ;;
      cli | fault) for t in tests/$kind/*.sh; do t=$(basename "$t" .sh); ! wanted "$kind/$t" || echo "$kind tests/$kind/$t.sh"; done ;;
      screen) for t in tests/screen/*.script; do t=$(basename "$t" .script); ! wanted "screen/$t" || echo "screen tests/screen/$t.script"; done ;;
      layers) for t in $(tests/check-layers.sh --list); do ! wanted "layers/$t" || echo "layers $t"; done ;;
      *) echo "run.sh: unknown kind of test: $kind" >&2; exit 2 ;;
    esac
  done | while read -r kind what; do
    case $kind:$what in
      *'/*'* | *'/test_*'*) continue ;; # a folder without tests
      cli:* | screen:*) [ -n "$EMMY" ] || continue ;;
    esac
    echo "$kind $what"
  done
}

patterns=$*
WORK=$(mktemp -d "${TMPDIR:-/tmp}/emmy-check-XXXXXX")
RESULTS=$WORK/results
mkdir "$RESULTS"
export WORK RESULTS KEEP
if [ -z "$KEEP" ]; then trap 'rm -rf "$WORK"' EXIT; else echo "scratch folder: $WORK"; fi

layout=random
case $(nm "$BUILD"/core/base/mem.o 2>/dev/null) in *__tsan_*) ! setarch -R true 2>/dev/null || layout=fixed ;; esac
echo $layout >"$BUILD/layout"

list_tests >"$WORK/list" || exit 2
[ ! -s "$WORK/list" ] || xargs -P "$JOBS" -n 2 sh "$SRC/tests/run.sh" --one <"$WORK/list"

for bad in "$RESULTS"/*.bad; do
  [ -s "$bad" ] || continue
  sed 's/^/FAILED /' "$bad"
  sed 's/^/    /' "${bad%.bad}.log" | tail -n 60
done
count() { cat "$RESULTS"/*."$1" 2>/dev/null | wc -l | tr -d ' '; }
passed=$(count ok) failed=$(count bad) skipped=$(count skip)
cat "$RESULTS"/*.skip 2>/dev/null | sed 's/^/skipped /'
if [ "$skipped" -gt 0 ]; then echo "$passed passed, $failed failed, $skipped skipped"; else echo "$passed passed, $failed failed"; fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
