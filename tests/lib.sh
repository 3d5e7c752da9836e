# lib.sh - what every tests/cli/*.sh and tests/fault/*.sh has at hand; sourced by run.sh.
#
# A test runs in an empty folder of its own with SRC (the repository), BUILD,
# EMMY (the program) and EMMY_SHARED set.  Standard output must equal NAME.out,
# standard error NAME.err (line by line, equal or matched as a shell pattern;
# empty when there is no such file), the exit status NAME.rc (0).

# emmy ARG...: the program.
emmy() { "$EMMY" "$@"; }

# skip WHY: the test cannot be run here.
skip() {
  echo "$*"
  exit 77
}

# status COMMAND...: runs it and prints its exit status on a line of its own.
status() {
  if "$@"; then echo "status 0"; else echo "status $?"; fi
}

# need FILE...: skips when one is absent (of EMMY_SHARED, for example).
need() {
  for needed_file in "$@"; do [ -e "$needed_file" ] || skip "$(basename "$needed_file") is not here"; done
}

# with_fault OP:NAME:N:ERROR COMMAND...: see tests/fault/faultio.c.
with_fault() {
  fault=$1
  shift
  EM_FAULT=$fault LD_PRELOAD="$BUILD/faultio.so" "$@"
}
