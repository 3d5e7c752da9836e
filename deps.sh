#!/bin/sh
# deps.sh - what emmy needs from the system.
#
#   ./deps.sh                    install what is missing; does nothing when all is there
#   ./deps.sh --all              the same, with the tools that only .ci/run uses
#   ./deps.sh --check CC OPENMP  say in one line what a build lacks (exit status 4)
set -eu

say() { echo "deps: $*"; }
die() { echo "deps: $*" >&2; exit "${status:-1}"; }

# ---- what is needed: command or pkg-config module, and its package ----------
#    need                 apt               dnf                      pacman     brew
needs() {
  cat <<'END'
cmd:cc                    build-essential   gcc                      base-devel -
cmd:make                  build-essential   make                     base-devel -
cmd:pkg-config            pkg-config        pkgconf-pkg-config       pkgconf    pkg-config
pkg:ncursesw              libncurses-dev    ncurses-devel            ncurses    ncurses
pkg:sqlite3>=3.38         libsqlite3-dev    sqlite-devel             sqlite     sqlite
pkg:libcjson              libcjson-dev      cjson-devel              cjson      cjson
pkg:libedit               libedit-dev       libedit-devel            libedit    libedit
pkg:libxxhash             libxxhash-dev     xxhash-devel             xxhash     xxhash
pkg:zlib                  zlib1g-dev        zlib-devel               zlib       zlib
pkg:cmocka                libcmocka-dev     libcmocka-devel          cmocka     cmocka
END
}
needs_all() {
  needs
  cat <<'END'
cmd:clang                 clang             clang                    clang      llvm
file:omp.h                libomp-dev        libomp-devel             openmp     libomp
cmd:mandoc                mandoc            mandoc                   mandoc     mandoc
cmd:zsh                   zsh               zsh                      zsh        zsh
cmd:python3               python3           python3                  python     python
python:ensurepip          python3-venv      python3                  python     python
END
}

have() { # KIND:NAME
  case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    pkg:*'>='*) name=${1#pkg:}; pkg-config --atleast-version="${name#*>=}" "${name%%>=*}" 2>/dev/null ;;
    pkg:*) pkg-config --exists "${1#pkg:}" 2>/dev/null ;;
    file:*) echo "#include <${1#file:}>" | clang -fopenmp -x c -fsyntax-only - 2>/dev/null ;;
    python:*) python3 -c "import ${1#python:}" 2>/dev/null ;;
  esac
}

# Names what is missing in the given list, one a line.
missing() { while read -r need packages; do have "$need" || echo "$need $packages"; done; }

# ---- checking a build --------------------------------------------------------

check() {
  status=4
  cc=$1 openmp=$2
  command -v "${cc%% *}" >/dev/null 2>&1 || die "the compiler '$cc' is missing: run make deps, or set CC="
  lacking=$(needs | missing | while read -r need packages; do printf ' %s' "${need#*:}"; done)
  [ -z "$lacking" ] || die "missing:$lacking: run make deps"
  if [ -n "$openmp" ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    printf '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' >"$dir/omp.c"
    # shellcheck disable=SC2086 # both may be several words
    $cc $openmp -o "$dir/omp" "$dir/omp.c" 2>/dev/null ||
      die "OpenMP does not work with '$cc': run make deps-all (Debian: libomp-dev for clang), or set OPENMP="
  fi
}

# ---- installing --------------------------------------------------------------

# The caller's rights if they suffice, else sudo or doas.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null 2>&1; then sudo "$@"
  elif command -v doas >/dev/null 2>&1; then doas "$@"
  else die "not root, and neither sudo nor doas is here: run as root: $*"
  fi
}

manager() { for m in apt-get dnf pacman brew; do command -v "$m" >/dev/null 2>&1 && { echo "$m"; return; }; done; }

install_packages() { # MANAGER PACKAGE...
  m=$1
  shift
  say "installing with $m: $*"
  case $m in
    apt-get)
      as_root apt-get update -qq || say "apt-get update failed, trying with the lists at hand"
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ;;
    dnf) as_root dnf install -y "$@" ;;
    pacman) as_root pacman -Sy --needed --noconfirm "$@" ;;
    brew) brew install "$@" ;;
  esac
}

install_missing() { # LIST (a function)
  lacking=$($1 | missing)
  if [ -z "$lacking" ]; then
    say "nothing to do, all is there"
    return
  fi
  m=$(manager)
  names=$(echo "$lacking" | cut -d' ' -f1 | cut -d: -f2 | tr '\n' ' ')
  [ -n "$m" ] || die "missing: $names; no apt-get, dnf, pacman or brew here, install them by hand"
  case $m in apt-get) column=2 ;; dnf) column=3 ;; pacman) column=4 ;; brew) column=5 ;; esac
  # shellcheck disable=SC2046 # a list of words
  install_packages "$m" $(echo "$lacking" | awk -v c="$column" '$c != "-" { print $c }' | sort -u)
  lacking=$($1 | missing | cut -d' ' -f1 | cut -d: -f2 | tr '\n' ' ')
  [ -z "$lacking" ] || die "still missing after the installation: $lacking"
}

case ${1-} in
  '') install_missing needs ;;
  --all) install_missing needs_all ;;
  --check) check "${2:-cc}" "${3-}" ;;
  *) die "usage: deps.sh [--all | --check CC OPENMP]" ;;
esac
