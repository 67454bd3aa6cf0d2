#!/bin/sh
# check.sh BYTES RUNNEL STREAM MEASURE: streams of so many bytes through runnel and through C by hand. The results must be the same and runnel must hold less than
# 64 MB; the times are shown.
set -eu
bytes=$1 runnel=$2 stream=$3 measure=$4
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The most memory that measure saw, in megabytes.
check_memory() {
    most=$(sed -n 's/.* \([0-9.]*\) MB.*/\1/p' "$1" | tail -n 1)
    echo "  $2: $(cat "$1" | tail -n 1)"
    if [ "${most%%.*}" -ge 64 ]; then
        echo "check.sh: $2 held $most MB; less than 64 were expected" >&2
        exit 1
    fi
}

compare() {
    if ! cmp -s "$work/runnel.txt" "$work/c.txt"; then
        echo "check.sh: $1: runnel says $(cat "$work/runnel.txt"), C says $(cat "$work/c.txt")" >&2
        exit 1
    fi
}

# Digits of floats are shown by runnel with a point.
with_point() {
    sed 's/\([ ,(]\)\([0-9]*\))$/\1\2.0)/; s/^\([0-9]*\)$/\1.0/'
}

echo "csv, $bytes bytes in a pipe"
"$stream" make-csv "$bytes" | "$measure" "$stream" read-csv 2> "$work/c.time" | with_point > "$work/c.txt"
echo "  C: $(tail -n 1 "$work/c.time")"
"$stream" make-csv "$bytes" | "$measure" "$runnel" run "$here/table.rnl" @- --format csv --no-progress > "$work/runnel.txt" 2> "$work/runnel.time"
check_memory "$work/runnel.time" runnel
compare csv

echo "npy, $bytes bytes in a file"
"$stream" make-npy "$bytes" > "$work/array.npy"
"$measure" "$stream" read-npy "$work/array.npy" 2> "$work/c.time" | with_point > "$work/c.txt"
echo "  C: $(tail -n 1 "$work/c.time")"
"$measure" "$runnel" run "$here/array.rnl" "@$work/array.npy" --no-progress > "$work/runnel.txt" 2> "$work/runnel.time"
check_memory "$work/runnel.time" runnel
compare npy
