# Help comes on standard output, the same by each way of asking.
emmy --help
echo "=="
emmy help db
echo "=="
emmy help db import
emmy --help >a && emmy help >b && cmp a b
emmy db --help >a && emmy help db >b && cmp a b
emmy --version
emmy help | sed -n 's/^  \([a-z]\{2,\}\( [a-z]\{1,\}\)\{0,1\}\)  .*/\1/p' >commands
wc -l <commands
while read -r command; do
  # shellcheck disable=SC2086 # a command of two words
  emmy $command --help >a && emmy help $command >b && cmp a b && head -n 1 a
done <commands
