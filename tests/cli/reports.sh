# Each test that tests/conformance/README.md names for a public report exists and is run; no report is without one.
table=$SRC/tests/conformance/README.md
sed -n 's/^| \([0-9]*\) |.*/\1/p' "$table" >reports
[ "$(wc -l <reports)" -ge 30 ] || echo "the table has $(wc -l <reports) reports"
sort reports | uniq -d
sed -n 's/^| [0-9]* |[^|]*| \(.*\) |$/\1/p' "$table" >cells
[ "$(wc -l <cells)" -eq "$(wc -l <reports)" ] || echo "a report has no test"
tr '`' '\n' <cells | sed -n '/^[a-z_]*\/[a-z_]*\.[a-z]* ./p' | sort -u >named
while read -r file name; do
  case $file in
    # The function itself, and its name in the list that main runs.
    unit/*) [ "$(grep -c "[ (]${name}[(,)]" "$SRC/tests/$file")" -ge 2 ] ;;
    *) grep -qF "$name" "$SRC/tests/$file" ;;
  esac || echo "there is no $file $name"
done <named
[ -s named ] && echo "all there"
# The reference's list, where it is at hand: lines "| 951 | ..." and "| 2104 (PR 2105) | ...".
list=$EMMY_SHARED/reference/catboost.md
if [ -e "$list" ]; then
  sed -n '/^### 6\.3/,/^## /s/^| \([0-9][0-9, PR()]*\) |.*/\1/p' "$list" | grep -o '[0-9][0-9]*' | sort >listed
  [ "$(wc -l <listed)" -ge 30 ] || echo "the reference lists $(wc -l <listed) reports"
  sort reports | diff listed -
fi
