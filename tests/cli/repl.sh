# Statements by --command, --file and standard input; modes; errors with source and line; exit status.
. "$SRC/tests/fixtures/tiny.sh"
repl() { emmy repl --prior "$tiny_prior" "$@"; }

echo "== command, each format"
query="select rank, work, reduce, golden, us from candidates('softmax.256') where rank <= 2 or golden is not null"
repl -c "$query" "$tiny"
repl --csv -c "$query" "$tiny"
repl --json -c "$query" "$tiny"
repl --md -c "$query" "$tiny"
status repl --csv --json -c "$query" "$tiny"

echo "== a script"
cat >script.sql <<'END'
-- comments and dot commands may come first
.mode csv
/* also
   of several lines */
.use mm.64
select count(*) as candidates,
  count(golden) as goldens
  from candidates; select 2 as two;
.headers off
.mode line
select 'a;b' as text;
.mode table
select 1
END
repl -f script.sql "$tiny"
echo "== the same from standard input, twice the same bytes"
repl "$tiny" <script.sql >first
repl -f - "$tiny" <script.sql >second
repl -f script.sql "$tiny" | cmp - first
cmp first second

echo "== commands and files in the order given"
repl -c '.mode csv' -c 'select 1 as one' -f script.sql -c 'select 9 as nine' "$tiny"
status repl -c 'select 1' -c '.quit' -c 'select 2' "$tiny"

echo "== errors name source and line"
printf 'select 1;\n\nselect *\n  from candidtes;\nselect 2;\n' >bad.sql
status repl -f bad.sql "$tiny"
status repl --keep-going "$tiny" <bad.sql
status repl -c 'select 1; select nonsense;' "$tiny"
status repl -c '.mode xml' "$tiny"
status repl -c ".read bad.sql" "$tiny"
status repl -c ".quit
select 1" "$tiny"
status repl -f nothing.sql "$tiny"

echo "== without terminal, environment and standard input"
status env -i "$EMMY" repl --prior "$tiny_prior" --csv -c 'select count(*) from pools' "$tiny" <&-

echo "== bad input"
status repl -c "select * from candidates" "$tiny"
status repl -c "select * from candidates('mm.65')" "$tiny"
status repl -c "select * from candidates('m')" "$tiny"
status repl -c "select * from candidates('mm.64', null, 2)" "$tiny"
status repl -c "insert into pools(card) values ('x')" "$tiny"
status repl -c "select 1" nothing.json
status emmy repl --prior nothing.json -c "select 1" "$tiny"
