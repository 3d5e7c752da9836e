# At a terminal: prompts, statements over several lines, an error that does not end the program, a history that is kept.
. "$SRC/tests/fixtures/tiny.sh"
command -v script >/dev/null || skip "script(1) is not here"
# What a person types, slowly enough to be read as it comes; carriage returns dropped.
session() { (sleep 1; cat; sleep 1) | script -qec "'$EMMY' repl --prior '$tiny_prior' '$tiny'" /dev/null | tr -d '\r'; }

echo "== TERM=dumb: plain lines"
TERM=dumb session <<'END' | grep -o 'one  statement$\|no such column: nonsense$\|goes on$'
.headers off
select 'one',
  'statement';
select nonsense;
select 'goes on';
.quit
END

echo "== a terminal that can: lines are edited and remembered"
TERM=xterm session <<'END' | grep -c 'edited' || true
.headers off
select 'edi' || 'ted';
.quit
END
grep -c 'select' "$XDG_STATE_HOME/emmy/history"
