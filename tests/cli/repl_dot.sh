# Dot commands: what is open, settings, files, documentation, commands of the program; arguments too few, enough, too many.
. "$SRC/tests/fixtures/tiny.sh"
repl() { emmy repl --prior "$tiny_prior" "$@"; }
try() { repl --keep-going "$tiny" 2>&1 || true; } # statements from standard input

echo "== help lists every command; each refuses a word too many"
repl -c .help "$tiny"
try <<'END'
.mode
.mode csv json
.timer
.width -1
.width 1 2
.once
.headers maybe
.quit now
.nothing
.mod csv
.read
.save
.use
.use nothing like it
.schema poolz
.doc nonsense
.examples 99
.help nothing
.mode "csv
END

echo "== settings"
try <<'END'
.width 30
select kernel, pick from pools limit 1;
.width 0
.headers off
select kernel from pools limit 1;
.headers on
.mode markdown
select kernel, golden_rank from pools limit 1;
END

echo "== output and once are whole files"
try <<'END'
.output all.csv
.mode csv
select 1 as one;
.once single.csv
.headers on
.help quit
select 2 as two;
select 3 as three;
.output
select 4 as four;
.once no/such/folder
.once failed.csv
select nonsense;
.save statements.sql
END
cat all.csv single.csv statements.sql
[ ! -e failed.csv ] || echo "failed.csv is there"
repl --csv -f statements.sql "$tiny"
repl --csv -c "select 'no semicolon'" -c "select 'nor here' -- or here" -c ".save again.sql" "$tiny" >first
repl --csv -f again.sql "$tiny" | cmp first -

echo "== open and prior"
tiny_store store.db
try <<END
.mode csv
.open store.db
select count(*) from pools;
.open nothing.json
select count(*) from pools;
.prior nothing.json
select count(*) from pools;
.open "$tiny" store.db
select count(*) from pools;
END

echo "== .use and temporary tables outlive what is open"
try <<END
.mode csv
.use add.64x128
create temp table before as select rank, row from candidates;
.prior "$SRC/data/prior/schedule.json"
select count(*) from candidates join before using (row);
.open store.db
select count(*) from candidates join before using (row);
.open "$SRC/data/golden/rtx4080_sm89.json"
select count(*) from before;
select count(*) from candidates;
END

echo "== documentation"
try <<'END'
.schema splits
.doc knob
.doc RASTER
.doc D_smem_bytes
.doc border
.examples 9
END

echo "== commands of the program"
try <<END
.import --db other.db --fresh "$tiny"
.import
.export --db other.db --pool-sample 10 dataset
.eval --prior "$tiny_prior" dataset
.fit
END
