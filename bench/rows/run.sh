#!/bin/sh
# What programs take for each element of rows whose lengths are all alike, by a power law, or of one row that has all elements, with one thread and with two: nanoseconds, as a table.
# The answer must be the same with one thread and with two, or there is no time.
#   bench/rows/run.sh RUNNEL DIRECTORY [NAME...]
set -eu
runnel=$1 data=$2 here=$(dirname "$0")
shift 2
mkdir -p "$data"
for kind in 0 1 2; do
    [ -e "$data/values$kind.npy" ] && continue
    "$runnel" run --out "$data/lengths$kind.npy" "$here/lengths.rnl" $kind 250000
    "$runnel" run --out "$data/values$kind.npy" "$here/values.rnl" "@$data/lengths$kind.npy"
done
# field NAME TEXT: of what `bench --json` wrote.
field() { printf '%s\n' "$2" | sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"]*\).*/\1/p"; }
printf '| rows | alike, 1 | 2 | power law, 1 | 2 | one row, 1 | 2 |\n|---|---|---|---|---|---|---|\n'
[ $# -gt 0 ] || set -- map filter reverse normalise nested sum scan sort rank group histogram max_index permute replace take fold quicksort roots elementary smooth keep join scanned steps
for name in "$@"; do
    line="| $name |"
    for kind in 0 1 2; do
        first=
        for threads in 1 2; do
            seen=$("$runnel" bench --json --digest --runs 7 --threads $threads "$here/$name.rnl" "@$data/lengths$kind.npy" "@$data/values$kind.npy")
            answer=$(field result "$seen")
            [ -n "$first" ] || first=$answer
            bytes=$(wc -c < "$data/values$kind.npy")
            if [ "$answer" = "$first" ]; then
                line="$line $(field min "$seen" | awk -v n="$bytes" '{printf "%.2f", $1 * 1e9 * 8 / n}') |"
            else
                line="$line wrong |"
            fi
        done
    done
    printf '%s\n' "$line"
done
