#!/bin/sh
# check-layers.sh CHECK - proves that the layers are what the design says.
#   --list prints the names of the checks; BUILD names the build to look at.
set -u
cd "$(dirname "$0")/.." || exit 1

# A folder of core may use itself and those before it; session may use all.
FOLDERS='base kernel target schedule space feature prior fit store dataset eval pick emit device session'

bad=0
complain() { echo "$*"; bad=1; }

# The "..." includes of a file, one a line, without those beside it.
includes() { sed -n 's/^ *# *include *"\([^"]*\/[^"]*\)".*/\1/p' "$1"; }
system_includes() { sed -n 's/^ *# *include *<\([^>]*\)>.*/\1/p' "$1"; }
position() { i=0; for f in $FOLDERS; do i=$((i + 1)); [ "$f" != "$1" ] || { echo $i; return; }; done; echo 99; }

check_core_includes() {
  for file in core/*/*.c core/*/*.h; do
    [ -e "$file" ] || continue
    own=$(echo "$file" | cut -d/ -f2)
    [ "$(position "$own")" -ne 99 ] || complain "$file: core/$own is no folder of the design"
    for inc in $(includes "$file"); do
      used=$(echo "$inc" | cut -d/ -f2)
      case $inc in
        core/"$own"/*) ;;
        core/*_int.h) complain "$file: $inc is private to core/$used" ;;
        core/*) [ "$own" = session ] || [ "$(position "$used")" -lt "$(position "$own")" ] ||
          complain "$file: core/$own may not use core/$used" ;;
        *) complain "$file: core may not include $inc" ;;
      esac
    done
  done
}

check_views_includes() {
  for file in views/*.c views/*.h; do
    [ -e "$file" ] || continue
    for inc in $(includes "$file"); do
      case $inc in
        core/*_int.h) complain "$file: $inc is private to its folder" ;;
        core/* | views/*) ;;
        *) complain "$file: views may not include $inc" ;;
      esac
    done
  done
}

check_terminal_includes() {
  for file in core/*/*.[ch] views/*.[ch]; do
    [ -e "$file" ] || continue
    for inc in $(system_includes "$file"); do
      case $inc in
        *curses.h | panel.h | menu.h | form.h | term.h | termcap.h | histedit.h | editline/* | readline/* | termios.h)
          complain "$file: only tui/ may include <$inc>" ;;
      esac
    done
  done
}

# Loops run through em_parallel_for alone, which the ThreadSanitizer build can follow.
check_parallel() {
  found=$(grep -n '# *pragma *omp' core/*/*.c views/*.c tui/*.c 2>/dev/null | grep -v '^core/base/parallel.c:' |
    sed 's/$/: use em_parallel_for/')
  none "$found"
}

# undefined FOLDER...: "file symbol" of what the objects of a folder want from outside.
undefined() {
  for object in $(find "$@" -name '*.o' 2>/dev/null | sort); do
    source=${object#"$BUILD"/}
    [ -e "${source%.o}.c" ] || continue # left by a source that is gone
    nm -u "$object" | sed -n "s|^ *U \([A-Za-z_0-9]*\).*|$source \1|p"
  done
}
ban() { # PATTERN WHY: complaints about lines of `undefined`
  grep -E " ($1)\$" | sed "s|\$|: $2|"
}
none() { [ -z "$1" ] || complain "$1"; }

PRINT='(__)?v?printf(_chk)?|puts|putchar|putchar_unlocked|perror|psignal|stdout|stderr|_IO_putc'
TERMINAL='initscr|newterm|endwin|stdscr|curscr|LINES|COLS|(mv)?w?(add|ins)_?n?w?(str|ch|chnstr).*|w?refresh|doupdate|.*getch|setupterm|tputs|tgetent|el_.*|history_.*|readline|add_history|tcsetattr'

check_prints() { none "$(undefined "$BUILD/core" "$BUILD/views" | ban "$PRINT" "core and views never print")"; }
check_exits() { # a worker process of core/device ends by itself
  none "$(undefined "$BUILD/core" "$BUILD/views" | grep -v '^core/device/[^ ]* _exit$' |
    ban 'exit|_exit|_Exit|quick_exit|abort|__assert_fail' "core and views never end the program")"
}
check_terminal_calls() {
  none "$(undefined "$BUILD/core" "$BUILD/views" | ban "$TERMINAL" "only tui/ uses the terminal")"
}
check_allocations() {
  none "$(undefined "$BUILD/core" "$BUILD/views" | grep -v '^core/base/mem.o ' |
    ban 'malloc|calloc|realloc|reallocarray|strdup|strndup|aligned_alloc|posix_memalign|v?asprintf|getline|open_memstream' \
      "allocate through em_alloc")"
}

# Of the files that are in the repository or about to be.
check_file_names() {
  none "$(git ls-files --cached --others --exclude-standard 2>/dev/null | grep -E '\.(c|h|def)$' | sed 's|.*/||' | sort |
    uniq -d | sed 's/$/: more than one file has this name/')"
}
check_file_lengths() {
  for file in core/*/*.[ch] views/*.[ch] tui/*.[ch] tests/*/*.[ch]; do
    [ -e "$file" ] || continue
    n=$(wc -l <"$file")
    [ "$n" -le 900 ] || complain "$file: $n lines, at most 900: split it"
  done
}

case ${1-} in
  --list) sed -n 's/^check_\([a-z_]*\)().*/\1/p' tests/check-layers.sh ;;
  *) "check_$1" && exit $bad ;;
esac
