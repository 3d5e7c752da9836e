. "$SRC/tests/fixtures/tiny.sh"
emmy golden format "$tiny" | cmp - "$tiny"
# Order of keys, white space and defaults do not matter, what comes out does not either.
tr '\n' ' ' <"$tiny" >one-line.json
emmy golden format one-line.json | cmp - "$tiny"
emmy golden format one-line.json -o out.json && cmp out.json "$tiny"
emmy golden format one-line.json --out one-line.json && cmp one-line.json "$tiny"
(cd "$SRC" && emmy golden check tests/fixtures/tiny.json)
tr '\n' ' ' <"$tiny" >loose.json
status emmy golden check loose.json
status emmy golden format absent.json
ls
