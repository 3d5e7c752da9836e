# The commands that README.md shows do what it says; the newest entry of NEWS.md is of this version.
need "$SRC/data/prior/schedule.json"
ln -s "$SRC/data" data
ln -s "$EMMY" emmy
sed -n 's|^    \(\./emmy .*\)|\1|p' "$SRC/README.md" >commands
wc -l <commands
[ -z "$QUICK" ] || sed -i 's/ db export / db export --pool-sample 100 /; s/--iterations 50/--iterations 5/' commands
while read -r command; do
  sh -c "$command" >out || echo "$command: status $?"
  [ -s out ] || echo "$command: printed nothing"
done <commands
# Its picture is what the explorer shows.
sed -n '/^```$/,/^```$/{ /^```$/!p }' "$SRC/README.md" >picture
echo ':dump-screen shown' >script
[ -n "$QUICK" ] || LINES=$(wc -l <picture) COLUMNS=119 emmy --prior data/prior/schedule.json --script script
[ -n "$QUICK" ] || diff picture shown
[ -s _tune/report.json ] || echo "no _tune/report.json"
[ "$(sed -n 's/^    \(.*make .*\)/\1/p' "$SRC/README.md" | tr '\n' ';')" = "./deps.sh && make run;./deps.sh && make check;" ] || echo "not the two commands"
[ "emmy $(sed -n 's/^## //p' "$SRC/NEWS.md" | head -n 1)" = "$(emmy --version)" ] || echo "NEWS.md is of another version"
