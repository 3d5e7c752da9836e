. "$SRC/tests/fixtures/tiny.sh"
exec 2>&1
tiny_dataset good
all() { # DIR WHAT
  before=$(sum_of "$1")
  echo "== $2"
  status emmy eval prior "$1" --prior "$tiny_prior"
  status emmy fit --iterations 2 --folds 0 "$1" out.json
  status emmy explore --prior "$tiny_prior" "$1"
  [ "$(sum_of "$1")" = "$before" ] || echo "$1 was changed"
}
copy() { rm -rf bad && cp -R good bad; }
all absent "not there"
mkdir empty
all empty "an interrupted export"
copy && edited good/manifest.json bad/manifest.json 's/"version":2/"version":3/' && all bad "another version"
copy && edited good/manifest.json bad/manifest.json 's/"feat_ver":101/"feat_ver":5/' && all bad "another featurizer"
copy && edited good/manifest.json bad/manifest.json 's/"format":"emmy-dataset"/"format":"other"/' && all bad "another format"
copy && head -c 900 good/manifest.json >bad/manifest.json && all bad "a truncated manifest"
copy && edited good/manifest.json bad/manifest.json 's|"golden/0001.npy"|"golden/../../secret.npy"|' && all bad "a path that leads out"
copy && rm bad/golden/0001.npy && all bad "a matrix is missing"
copy && head -c 4000 good/golden/0001.npy >bad/golden/0001.npy && all bad "a truncated matrix"
copy && LC_ALL=C sed '1s/<f8/<f4/' good/golden/0001.npy >bad/golden/0001.npy && all bad "another type"
copy && LC_ALL=C sed "1s/'fortran_order': False/'fortran_order': True /" good/golden/0001.npy >bad/golden/0001.npy && all bad "another order"
copy && cp good/golden/0002.npy bad/golden/0001.npy && all bad "another shape"
copy && sed 1d good/golden/0001.rows >bad/golden/0001.rows
echo "== a row is missing"
status emmy view candidates --prior "$tiny_prior" --pool mm.64 bad
ls -d out.json _tune/fits/* 2>/dev/null || true
