# For scripts that are tests: steps that pass, fail or are skipped, and the line that closes.
passed=0
failed=0
skipped=0

# check TITLE COMMAND...: one test by its status; what it wrote is shown if it fails.
check() {
    local title=$1 output
    shift
    if output=$("$@" 2>&1); then
        ((passed += 1))
    else
        ((failed += 1))
        printf 'FAILED %s\n%s\n' "$title" "$output"
    fi
}

skip() {
    printf 'skipped %s: %s\n' "$1" "$2"
    ((skipped += 1))
}

finish() {
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    ((failed == 0))
}

# The first program of the README: its text, and what it prints.
first_program() {
    sed -n '/^```runnel sparse.rnl$/,/^```$/p' README.md | sed '1d;$d'
}

first_result() {
    sed -n '/^\$ .*runnel run sparse.rnl$/{n;p;q}' README.md
}
