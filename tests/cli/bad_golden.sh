# Each is one error that names file and place, with exit status 1; the store stays as it is.
. "$SRC/tests/fixtures/tiny.sh"
exec 2>&1
tiny_store t.db
before=$(sum_of t.db)
try() { # NAME SCRIPT
  edited "$tiny" "$1.json" "$2"
  check "$1.json"
}
check() {
  status emmy db import --db t.db "$1"
  emmy golden format "$1" -o formatted.json && echo "it was formatted" || true
  [ "$(sum_of t.db)" = "$before" ] || echo "the store was changed"
}
head -c 700 "$tiny" >truncated.json
check truncated.json
: >empty.json
check empty.json
try malformed 's/"compute_cap": \[8, 9\]/"compute_cap": [8; 9]/'
try unknown-key 's/"note":/"notes":/'
try twice 's/"note":/"gpu_name": "x", "note":/'
try unknown-kernel '/"name":"mm.64"/s/"kernel":"k_matmul/"kernel":"k_matmull/'
try not-canonical 's/"WORK":"t32x8","TILE":"f2x4"/"WORK":"t32x08","TILE":"f2x4"/'
try width-of-one 's/"TILE":"f4","RASTER"/"TILE":"f4x1","RASTER"/'
try structural 's/"REDUCE":"coop\/r2"/"REDUCE":"g4k"/'
try no-work 's/"WORK":"t128","REDUCE"/"REDUCE"/'
try statement 's/{"Accum":/{"Akkum":/'
try operator 's/"op":"exp"/"op":"expp"/'
try index 's/"index":\["a0","a2"\]/"index":["a0","a9"]/'
try index-syntax 's/"index":\["a0","a2"\]/"index":["a0","a2 +"]/'
try overflow 's/\[128,256\]/[9223372036854775807,256]/g'
try beyond-64-bits 's/"extent":256/"extent":92233720368547758080/'
try no-time 's/"emmy_us":4.5/"emmy_us":0/'
try capability 's/"compute_cap": \[8, 9\]/"compute_cap": [9, 0]/'
echo "== deep nesting"
deep=$(i=0; while [ $i -lt 70 ]; do printf '('; i=$((i + 1)); done)
shut=$(echo "$deep" | tr '(' ')')
try deep-index "s/\"index\":\\[\"a0\",\"a2\"\\]/\"index\":[\"a0\",\"${deep}a2$shut\"]/"
i=0
while [ $i -lt 300 ]; do printf '['; i=$((i + 1)); done >deep.json
check deep.json
echo "== what is no golden file"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n' >pointer.json
check pointer.json
mkdir folder.json
check folder.json
printf '{"compute_cap":[8,9]\000}' >nul.json
check nul.json
printf '{"compute_cap":[8,9],"note":"\377"}' >utf8.json
check utf8.json
ls
