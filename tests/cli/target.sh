emmy target list --csv | head -n 1
emmy target list --csv | wc -l
emmy target list --filter arch:volta --json
emmy target show "nvidia geforce rtx 4080"
emmy target show RTX4080 --csv | grep '^cc,'
status emmy target show "RTX 4081"
