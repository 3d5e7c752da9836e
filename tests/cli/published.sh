# A file that the public project published.
published=$EMMY_SHARED/goldens/rtx4080_sm89.json
need "$published"
emmy golden format "$published" | cmp - "$published"
cp "$published" rtx4080.json
emmy golden check rtx4080.json
emmy db import --db t.db --fresh rtx4080.json
emmy kernel list rtx4080.json --csv | cut -d, -f1-3
