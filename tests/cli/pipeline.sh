# Import, export, fit and report; twice, and with one thread and two: the same bytes.
. "$SRC/tests/fixtures/tiny.sh"
tiny_store t.db
emmy db export --db t.db --threads 1 d1
emmy db export --db t.db --threads 2 d2 >/dev/null
diff -r d1 d2
emmy db export --db t.db --pool-sample 0 --csv whole
emmy db export --db t.db --pool-sample 50 --seed 1 --json whole
emmy view pools --prior "$tiny_prior" whole --csv | cut -d, -f2,5,13
fit="emmy fit --iterations 8 --depth 3 --folds 2 d1"
$fit one.json --threads 1 | sed 's/^\(.*\) \(all\|holdout\|train\)  *\([0-9]*\) .*/\1 \2 \3/' # its figures are another test's
$fit two.json --threads 2 >/dev/null
$fit three.json --out here --csv | cut -d, -f1-3
cmp one.json two.json
cmp one.json three.json
cmp one.json _tune/fits/0001/prior.json
diff -r _tune/fits/0001 _tune/fits/0002
diff -r _tune/fits/0001 here
ls _tune/fits here
emmy eval prior d1 --prior one.json --json r1.json --threads 1 >report
emmy eval prior d2 --prior two.json --json r2.json --threads 2 | cmp - report
cmp r1.json r2.json
echo "== what is in the way"
status $fit four.json --out here
status $fit here
status emmy db export --db t.db here
ls | grep -v -e -shm -e -wal
