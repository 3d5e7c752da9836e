# Every view of views.def as CSV and in SQL: the same bytes; and in the manual: every table, argument, column and unit.
. "$SRC/tests/fixtures/faces.sh"
repl() { emmy repl --prior tiny-prior.json --csv "$@" tiny.json routing.json; }
mkdir csv sql

echo "== each view as CSV: number of lines, the first ones"
repl -c ".headers off
select table_name, replace(name, 'arg_', '') from schema_doc where kind <> 'column' order by table_name, position" >params
as_csv() {
  view=$1
  shift
  options=
  for param in $(sed -n "s/^$view,//p" params); do
    [ $# -gt 0 ] || break
    [ "$1" = - ] || options="$options --$param $1"
    shift
  done
  # shellcheck disable=SC2086 # options and their values
  emmy view "$view" --prior tiny-prior.json $options --csv tiny.json routing.json >"csv/$view"
  echo "-- $view$options: $(wc -l <"csv/$view")"
  head -n 4 "csv/$view" | cut -c1-600
}
each_view as_csv

echo "== the same in SQL"
as_sql() {
  view=$1
  shift
  args=
  for arg in "$@"; do
    case $arg in -) arg=null ;; *) arg="'$arg'" ;; esac
    args="$args${args:+, }$arg"
  done
  # A listing has the order that its view is shown in at first, a table the order of its rows.
  case $view in fit_diff) order=' order by change desc' ;; *) order= ;; esac
  printf '.once sql/%s\nselect * from %s%s%s;\n' "$view" "$view" "${args:+($args)}" "$order"
}
each_view as_sql >script.sql
repl -f script.sql
diff -r csv sql && echo "$(cat csv/* | wc -l) lines agree"

echo "== nothing is missing"
# The program's list, as long as the declaration's, is what all others are held against.
emmy help view | sed -n '/^views$/,/^$/s/^  \([a-z_]\{1,\}\).*/\1/p' | sort >declared
[ "$(wc -l <declared)" -eq "$(grep -c '^VIEW(' "$SRC/views/views.def")" ] && echo "declared: every view"
ls sql >tested
repl -c ".headers off
select distinct table_name from schema_doc" | sort >schema_doc
sed -n 's/^\.Ss Table \([a-z_]*\).*/\1/p' "$SRC/man/emmy-sql.7" | sort >emmy-sql.7
sed -n '/^\.Ss Views/,/^\.Sh/s/^\.It Cm \([a-z_]*\)$/\1/p' "$SRC/man/emmy.1" | sort >emmy.1
for list in tested schema_doc emmy-sql.7 emmy.1; do
  diff declared $list && echo "$list: every view"
done
# Table, name and (of a column) type and unit, in the manual's order and in the schema's.
repl -c ".headers off
.mode line
select table_name || ' ' || name || case kind when 'column' then
  ' ' || case type when 'flag' then '0 or 1' else type end || iif(unit = '', '', ', ' || unit) else '' end as entry
from schema_doc" | sed -n 's/^ *entry = //p' | sort >schema
awk '/^\.Ss Table/ { table = $3; sub(/\(.*/, "", table) }
  /^\.Sh FUNCTIONS/ { exit }
  /^Arguments:/ { columns = 0 }
  /^Columns:/ { columns = 1 }
  /^\.It Cm/ { name = $3; text = ""; next }
  name { text = text (text == "" ? "" : " ") $0 }
  name && (!columns || text ~ /:/) { sub(/:.*/, "", text); print table, name (columns ? " " text : ""); name = "" }' \
  "$SRC/man/emmy-sql.7" | sed 's/\\-/-/g' | sort >entries
diff schema entries && echo "emmy-sql.7: every argument, column and unit"
for view in csv/*; do
  awk -v table="$(basename "$view")" -F, '{ for (i = 1; i <= NF; i++) print table, $i; exit }' "$view"
done | sort >headers
repl -c ".headers off
.mode line
select table_name || ' ' || name as entry from schema_doc where kind = 'column'" | sed -n 's/^ *entry = //p' | sort |
  diff headers - && echo "schema_doc: every column"
