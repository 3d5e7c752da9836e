# Whatever fails while a folder is written: the old one stays, and nothing beside it.
fresh() {
  rm -rf d
  mkdir d
  echo old >d/old
}
for fault in mkdir:d.tmp:1:ENOSPC open:member:1:EMFILE write:member:1:ENOSPC fsync:member:1:EIO rename:member:1:EIO rename:d:2:EROFS; do
  fresh
  echo "== $fault"
  status with_fault "$fault" "$BUILD/fault/write_out" folder d | sed "s/tmp-[0-9]*-[0-9]*/tmp/"
  ls -R
done
echo "== killed before it is put in place; the next writer tidies up"
fresh
status with_fault rename:d:2:KILL "$BUILD/fault/write_out" folder d 2>/dev/null
ls d
ls | wc -l
status "$BUILD/fault/write_out" folder d
ls -R
cat d/member
