#!/bin/sh
# lint.sh FILE... - cppcheck and clang-tidy, those that are here.
set -u
rc=0 ran=0
if command -v cppcheck >/dev/null 2>&1; then
  ran=1
  cppcheck --quiet --std=c11 -I. --enable=warning,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress=checkersReport "$@" || rc=1
fi
# tidy FILE-OR-OPTION...
tidy() {
  clang-tidy --quiet -p . --warnings-as-errors='*' \
    --checks='-*,clang-analyzer-*,bugprone-*,-clang-analyzer-security.insecureAPI.*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,-bugprone-branch-clone,-bugprone-macro-parentheses,-bugprone-assignment-in-if-condition,-bugprone-suspicious-string-compare,-bugprone-sizeof-expression,-clang-analyzer-valist.Uninitialized' \
    "$@" 2>/dev/null || rc=1
}
if command -v clang-tidy >/dev/null 2>&1; then
  ran=1 base='' others=''
  for file; do
    case $file in
    core/base/*) base="$base $file" ;; # where lint.h says what they do, they are defined
    *) others="$others $file" ;;
    esac
  done
  [ -z "$base" ] || tidy $base
  [ -z "$others" ] || tidy --extra-arg=-include --extra-arg=tests/lint.h $others
fi
[ $ran -eq 1 ] || echo "lint: neither cppcheck nor clang-tidy is here"
exit $rc
