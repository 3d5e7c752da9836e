# Wrong usage: one line on standard error, exit status 2, nothing on standard output.
try() {
  echo "emmy $*"
  status emmy "$@"
}
exec 2>&1
try exlpore
try db
try db imprt x
try db import
try db import --fresh x.json
try db import --fersh x.json
try db list extra
try db export --pool-sample
try db export --pool-sample -1 out
try db export --pool-sample 1e3 out
try db export
try eval
try eval prior
try eval prior --pools some out
try fit one
try fit --depth 99 a b
try fit --iterations x a b
try fit --bootstrap poisson a b
try fit --objective softmax a b
try fit --labels none a b
try fit --folds 1 a b
try fit --folds 0 --early-stopping 5 a b
try golden format
try golden format a b
try golden
try kernel new
try kernel new matmull 1 2 3
try kernel new matmul 1 2
try kernel new matmul 1 2 3 4
try kernel new matmul 1 2 k=3
try kernel new matmul 1 0 3
try kernel new matmul 1 02 3
try kernel new matmul 1 '9n=2' 3
try kernel new matmul 1 2 3 --dtype f31
try kernel show x.json
try target
try target show
try target list --sort colour
try target list --csv --json
try target list --csv=yes
try view
try view pols
try view pools --pool x
try view candidates x.json
try explore --color blue
try help nothing
try help target lst
try -x
try --versoin
