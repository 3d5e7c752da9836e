# Without a terminal the explorer prints its tables.
. "$SRC/tests/fixtures/tiny.sh"
emmy explore --prior "$tiny_prior" "$tiny"
emmy --prior "$tiny_prior" --csv "$tiny" | cut -d, -f1-7
emmy explore --prior "$tiny_prior" --json --view kernels "$tiny"
emmy explore --prior "$tiny_prior" --ascii --card rtx4080 --kernel softmax "$tiny"
status emmy explore --prior "$tiny_prior" --card rtx9999 "$tiny"
status emmy explore --prior "$tiny_prior" --view candidates "$tiny"
status emmy explore --prior "$tiny_prior" --view nothing "$tiny"
env -u TERM "$EMMY" --prior "$tiny_prior" "$tiny" | head -n 1
