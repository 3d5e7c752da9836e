# Whatever fails while a file is written: the old one stays, and nothing beside it.
for fault in open:f.txt:1:EROFS open:f.txt:1:EACCES write:f.txt:1:ENOSPC write:f.txt:1:EIO fsync:f.txt:1:EIO rename:f.txt:1:EROFS; do
  echo old >f.txt
  echo "== $fault"
  status with_fault "$fault" "$BUILD/fault/write_out" file f.txt
  cat f.txt
  ls
done
echo "== the folder's sync fails: the new file is there and whole"
status with_fault "fsync:/work:2:EIO" "$BUILD/fault/write_out" file f.txt
cat f.txt
ls
echo "== killed before the rename; the next writer tidies up"
echo old >f.txt
status with_fault rename:f.txt:1:KILL "$BUILD/fault/write_out" file f.txt 2>/dev/null
cat f.txt
ls | wc -l
status "$BUILD/fault/write_out" file f.txt
cat f.txt
ls
