. "$SRC/tests/fixtures/tiny.sh"
emmy kernel new matmul 64 32 16 --dtype f16
emmy kernel new linear seq_len=512 32 16 --epilogue bias,gelu --dtype f16 | grep -o '{"sym":"seq_len","hint":512}' | head -n 1
emmy kernel new pointwise 8 16 --op exp
emmy kernel new pointwise 0 64 | grep -o '\[\["x0","f32",\[64\]\]\]'
status emmy kernel new pointwise 8 16 --op nonsense
status emmy kernel new softmax 8 16 --epilogue relu
status emmy kernel new bmm 9223372036854775807 9223372036854775807 2 2
# Every kind of the help builds.
emmy kernel new --help | sed -n '/^kinds/,/^options/s/^  \([a-z_]*\) \([a-z ]*[a-z]\)  .*/\1 \2/p' >kinds
wc -l <kinds
while read -r kind dims; do
  # shellcheck disable=SC2046 # a size for each dimension
  emmy kernel new "$kind" $(for d in $dims; do echo 16; done) >k.json && grep -q '"loop"' k.json || echo "$kind $dims fails"
done <kinds
emmy kernel list "$tiny"
tiny_store t.db
emmy kernel list t.db --csv | cut -d, -f1-4
emmy kernel show "$tiny" k_matmul_9a5a04
emmy kernel show t.db 9a5a04 --json >a && emmy kernel new matmul 64 64 64 >b && cmp a b
status emmy kernel show "$tiny" k_matmul_9a5a0
status emmy kernel show "$tiny" nothing
