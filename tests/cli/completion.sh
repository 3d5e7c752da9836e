# The script for bash really completes: commands, options, and values by their kind.
command -v bash >/dev/null || skip "bash is not here"
emmy help --completion bash >emmy.bash
status emmy help --completion fish
mkdir -p dir _tune/fits/0001
: >golden.json
: >"two words.json"
cat >complete.bash <<'END'
set -u
. ./emmy.bash
# As bash calls it: the words of the line, the last of which is being typed.
while IFS= read -r line; do
  COMP_WORDS=() word=
  for word in $line; do [[ $word == _ ]] && word=; COMP_WORDS+=("$word"); done
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _emmy
  printf '%s\n' "-- $line"
  [[ ${#COMPREPLY[@]} == 0 ]] || printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
done
END
cat >lines <<'END'
emmy _
emmy d
emmy --card h1
emmy db _
emmy db im
emmy db import --
emmy db import --db _
emmy db import --db = g
emmy db import --db =
emmy db import --fresh g
emmy db export d
emmy view fork
emmy view candidates --p
emmy view --pool x candidates --p
emmy view candidates --pool x golden
emmy view tree_path --sort l
emmy view tree_path --sort -l
emmy view features -k mm --a _
emmy view fit_diff --a 0
emmy explore --color _
emmy explore --view f
emmy fit _
emmy fit dir g
emmy fit --objective _
emmy eval prior --json _
emmy eval prior --pools _
emmy compare --fail-on-regression 0001 0
emmy compare 0001 0001 _
emmy kernel new ma
emmy kernel new matmul 512 --dtype bf
emmy kernel show golden.json _
emmy target show h
emmy repl --command _
emmy repl -f g
emmy help db _
emmy help --man _
emmy help fit _
emmy no-command g
END
bash complete.bash <lines
# Every option of every command is offered, and nothing else.
emmy help | sed -n 's/^  \([a-z]\{2,\}\( [a-z]\{1,\}\)\{0,1\}\)  .*/\1/p' >commands
while read -r command; do
  echo "emmy $command -" | bash complete.bash | grep '^--[a-z]' | sort >offered
  # shellcheck disable=SC2086 # a command of two words
  emmy help $command | sed -n 's/^  \(-., \)\{0,1\}\(--[a-z0-9_-]*\).*/\2/p' | sort | diff - offered
done <commands
wc -l <commands
