# An interrupt or a termination signal stops the work: the message says how far it came, nothing half-written stays.
. "$SRC/tests/fixtures/tiny.sh"
tiny_dataset d
stop() { # SIGNAL COMMAND...: starts it, asks it to stop
  signal=$1
  shift
  rm -rf _tune
  "$@" >out 2>message &
  pid=$!
  while [ ! -d _tune/fits ]; do sleep 0.1; done # made just before the training
  sleep 0.3
  kill -"$signal" $pid
  if wait $pid; then echo "status 0"; else echo "status $?"; fi
  sed 's/[0-9][0-9]*/N/g' message
}
for signal in TERM INT; do
  stop $signal "$EMMY" fit --iterations 100000 --leaf-steps 1000 --folds 0 d w.json
  ls | grep -v -e -shm -e -wal
  ls -A _tune/fits
done

echo "== a hang-up, and one under nohup"
stop HUP "$EMMY" fit --iterations 100000 --leaf-steps 1000 --folds 0 d w.json
rm -rf _tune
(trap '' HUP; exec "$EMMY" fit --iterations 100000 --leaf-steps 1000 --folds 0 d w.json) >out 2>message &
pid=$!
while [ ! -d _tune/fits ]; do sleep 0.1; done
sleep 0.3
kill -HUP $pid
sleep 0.3
kill -TERM $pid && echo "still at work"
wait $pid || true

echo "== a script of statements, also one that errors do not end"
endless="with recursive c(x) as (values (1) union all select x + 1 from c) select max(x) from c"
printf '%s\n' ".headers off" "select nonsense;" "select 'before';" ".once made" "select 1;" "$endless;" "select 'after';" >long.sql
"$EMMY" repl --keep-going -f long.sql --prior "$tiny_prior" "$tiny" >out 2>message &
pid=$!
while [ ! -e made ]; do sleep 0.1; done # the endless one is next
sleep 0.3
kill -INT $pid
if wait $pid; then echo "status 0"; else echo "status $?"; fi
cat out message
