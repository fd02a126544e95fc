# What scripts/test and scripts/campaign share: run a suite, note how long it took, and print a table
# of all suites at the end. To be sourced.

# begin makes the directory for the output of the suites, $logs.
begin() {
	logs=$(mktemp -d "${TMPDIR:-/tmp}/fairlead-$1.XXXXXX") || exit 1
	: >"$logs/table"
	trap interrupted INT TERM HUP
}

# interrupted ends the background processes: single ones, and groups of them (set -m), except an installation. It
# ignores a second signal, such as the one that make passes on, so that no process is left.
interrupted() {
	trap '' INT TERM HUP
	for job in $(jobs -p); do
		[ "$job" = "${installing:-}" ] || kill -TERM -- "-$job" 2>/dev/null || kill -TERM "$job" 2>/dev/null
	done
	[ -z "${installing:-}" ] || ! kill -0 "$installing" 2>/dev/null ||
		echo "apt-get goes on, so that no package is left half installed" >&2
	echo "interrupted; the output is in $logs" >&2
	exit 130
}

# run NAME COMMAND... runs a suite. Its output goes into $logs/NAME.log.
run() {
	local name=$1 result=ok code taken TIMEFORMAT='%0R %0U %0S'
	shift
	taken=$({ time "$@" >"$logs/$name.log" 2>&1 </dev/null; } 2>&1)
	code=$?
	[ $code = 0 ] || result=FAILED
	set -- $taken
	row "$name" "$1" $(($2 + $3)) "$result"
	return $code
}

# skip NAME WHY leaves a suite out. With FAIRLEAD_NO_SKIP=1 that is a failure.
skip() {
	if [ "${FAIRLEAD_NO_SKIP:-}" = 1 ]; then
		echo "$2" >"$logs/$1.log"
		row "$1" 0 0 FAILED
	else
		row "$1" 0 0 "skipped: $2"
	fi
}

# row NAME SECONDS PROCESSOR-SECONDS RESULT writes a line of the table, and prints it. The table decides whether all
# suites passed, so the script ends if the line cannot be written.
row() {
	printf '%s\t%s\t%s\t%s\n' "$@" >>"$logs/table" || { echo "cannot write $logs/table" >&2; kill -TERM $$; exit 1; }
	line "$@"
}

line() { printf '%-26s %7s %9s  %s\n' "$@"; }

# join PID... waits for groups of suites that run in the background. It fails if one of them was killed: its other
# suites then have no row in the table.
join() {
	local pid killed=0
	for pid; do
		wait "$pid"
		[ $? -lt 128 ] || killed=137
	done
	return $killed
}

# failed lists the suites that failed.
failed() { awk -F'\t' '$4 == "FAILED" {print $1}' "$logs/table"; }

# ending prints the end of the output of a suite. Of the lines before it, it prints those that name a failed test, a
# panic, a race or a seed.
ending() {
	local lines=400
	grep -vE '^(ok|\?) +	?' "$logs/$1.log" >"$logs/shown"
	if [ "$(wc -l <"$logs/shown")" -gt $lines ]; then
		head -n -$lines "$logs/shown" | grep -E '^ *--- FAIL|^FAIL|^panic:|DATA RACE|[Ss]eed' | head -n 100
		echo "[...]"
	fi
	tail -n $lines "$logs/shown"
}

# report prints what the failed suites printed, and the table. It returns 1 if a suite failed, and counts those that
# did not run in $skipped.
report() {
	local name bad
	bad=$(failed)
	skipped=$(grep -c '	skipped: ' "$logs/table")
	for name in $bad; do
		printf '\n=== %s failed, and printed:\n' "$name"
		ending "$name"
	done
	echo
	line suite seconds processor result
	while IFS=$'\t' read -r -a fields; do line "${fields[@]}"; done <"$logs/table"
	for name in $bad; do echo "FAILED: $name"; done
	if [ -n "$bad" ]; then
		echo "The whole output is in $logs"
		return 1
	fi
	rm -rf "$logs"
}
