# What the explorer writes is what `emmy view` prints of the same rows.
cp "$SRC/tests/fixtures/tiny.json" "$SRC/tests/fixtures/tiny-prior.json" .
for format in csv json md; do
  printf ':filter mm.64\n:sort -us\n:write shown.%s\n' $format >keys
  emmy explore --script keys --prior tiny-prior.json tiny.json
  emmy view pools --$format --filter mm.64 --sort -us --prior tiny-prior.json tiny.json >printed
  cmp shown.$format printed && echo "$format $(wc -l <printed) lines"
done
