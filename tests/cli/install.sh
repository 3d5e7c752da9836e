# What is installed: the program, each manual page in its section, the completions, the data as they are.
make -s -C "$SRC" install BUILD="$BUILD" DESTDIR="$PWD/root" prefix=/usr >/dev/null
cmp "$EMMY" root/usr/bin/emmy && test -x root/usr/bin/emmy && echo program
for page in "$SRC"/man/*.[1-8]; do
  [ ! -f "$page" ] || cmp "$page" "root/usr/share/man/man${page##*.}/$(basename "$page")"
done
echo manual
emmy help --completion bash | cmp - root/usr/share/bash-completion/completions/emmy
emmy help --completion zsh | cmp - root/usr/share/zsh/site-functions/_emmy && echo completions
diff -r "$SRC/data" root/usr/share/emmy && echo data
