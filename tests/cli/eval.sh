. "$SRC/tests/fixtures/tiny.sh"
tiny_dataset d
emmy eval prior d --prior "$tiny_prior" --features --json report.json
grep -c '"rank":' report.json
emmy eval prior d --prior "$tiny_prior" --kernel softmax | head -n 3
status emmy eval prior d --prior "$tiny_prior" --kernel nothing
