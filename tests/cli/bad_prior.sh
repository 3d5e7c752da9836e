. "$SRC/tests/fixtures/tiny.sh"
exec 2>&1
tiny_dataset d
try() { # WHAT SCRIPT
  echo "== $1"
  edited "$tiny_prior" bad.json "$2"
  status emmy eval prior d --prior bad.json
  status emmy explore --prior bad.json "$tiny"
}
echo "== not there"
status emmy eval prior d --prior absent.json
try "another featurizer" 's/"feat_ver": 101/"feat_ver": 5/'
try "another space" 's/"space": "schedule"/"space": "placement"/'
try "malformed" '3s/,$/;/'
try "columns of another model" 's/"D_cells",$/"D_aspect",/'
try "a split out of range" 's/"split_index": 1,/"split_index": 99,/'
try "too few leaves" 's/"leaf_values": \[[^,]*,/"leaf_values": [/'
try "a leaf that is not finite" 's/"leaf_values": \[[^,]*,/"leaf_values": [1e999,/'
try "categorical features" 's/"float_features": /"categorical_features": [{"feature_index":0}], "float_features": /'
echo "== a version that is asked for, on a dataset of that version"
edited "$tiny_prior" five.json 's/"feat_ver": 101/"feat_ver": 5/'
edited d/manifest.json m.json 's/"feat_ver":101/"feat_ver":5/'
cp m.json d/manifest.json
emmy eval prior d --prior five.json --feat-ver 5 | tail -n 4
