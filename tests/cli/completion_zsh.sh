# The script for zsh is one, and hands the right words to zsh's own functions.
emmy help --completion zsh >_emmy
command -v zsh >/dev/null || skip "zsh is not here"
zsh -n _emmy
cat >complete.zsh <<'END'
_arguments() { print -rl -- "${@[@]:#*\[*}" | grep -v '^-[sS]$' }
_describe() { print -rl -- ${(P)4} }
_files() { print -r -- files "$@" }
compadd() { print -r -- ${(P)2} }
while IFS= read -r line; do
  print -r -- "-- $line"
  words=(${(s: :)line}) words[1]=emmy
  [[ $words[-1] != _ ]] || words[-1]=
  CURRENT=$#words PREFIX=$words[-1]
  . ./_emmy
done
END
cat >lines <<'END'
emmy _
emmy db _
emmy help db _
emmy db import _
emmy view candidates --pool x _
emmy target show _
END
zsh -f complete.zsh <lines
# What the values' functions offer.
cat >values.zsh <<'END'
words=(emmy help x _) CURRENT=4 PREFIX=
_arguments() { : }
_files() { print -r -- files "$@" }
compadd() { print -r -- ${${(P)2}[1,3]} } # the first three
. ./_emmy
view=tree_path
for value in @file @dir @fit @card @dtype @kind @view @main @column auto,always,never; do
  print -r -- "-- $value"
  _emmy_offer $value
done
END
mkdir -p _tune/fits/0001
zsh -f values.zsh
