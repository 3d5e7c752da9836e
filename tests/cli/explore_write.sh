# What the explorer writes is what `emmy view` prints of the same rows; what it cannot write ends a script.
need "$SRC/data/prior/schedule.json"
cp "$SRC/tests/fixtures/tiny.json" "$SRC/tests/fixtures/tiny-prior.json" .
for format in csv json md; do
  printf ':filter mm.64\n:sort -us\n:write shown.%s\n' $format >keys
  emmy explore --script keys --prior tiny-prior.json tiny.json
  emmy view pools --$format --filter mm.64 --sort -us --prior tiny-prior.json tiny.json >printed
  cmp shown.$format printed && echo "$format $(wc -l <printed) lines"
done
for command in write dump-screen; do
  printf ':%s nowhere/file\n:write too-late.csv\n' $command >keys
  status emmy explore --script keys --prior tiny-prior.json tiny.json 2>&1
done
[ ! -e too-late.csv ] || echo "the script went on"
# What takes long is written to its end, though the script ends before.
cp "$SRC/data/golden/rtx4080_sm89.json" golden.json
printf ':open candidates square.1024.fp16\n:write long.csv\n' >keys
emmy explore --script keys --kernel 1024.fp16 --prior "$SRC/data/prior/schedule.json" golden.json
wc -l <long.csv
