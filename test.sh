#!/usr/bin/env bash
# Every test of soma: a release build, one with ASan and UBSan that checks every invariant after
# each command, and one with TSan for all that has threads.
#   ./test.sh            everything
#   ./test.sh release    one build: release, asan or tsan
# Installs what is missing (Debian). Exit code 0 only when all passed.
set -euo pipefail
cd "$(dirname "$0")"

# shellcheck source=deploy/packages.sh
. deploy/packages.sh
# shellcheck disable=SC2086
install_packages $build_packages $run_packages $test_packages

passed=0 failed=0

# Configure, build and test one preset; $2... go to ctest.
run_preset() {
    local preset=$1 log
    shift
    log=$(mktemp)
    echo "== $preset: building"
    if ! { cmake --preset "$preset" -DSOMA_WERROR=ON && cmake --build --preset "$preset" -j "$(nproc)"; } \
        >"$log" 2>&1; then
        tail -n 60 "$log"
        rm -f "$log"
        failed=$((failed + 1))
        return
    fi
    echo "== $preset: testing"
    ctest --test-dir "build$([ "$preset" = release ] || echo "-$preset")" --output-on-failure \
        --no-tests=error "$@" >"$log" 2>&1 || true
    grep -vE '^ *Start ' "$log" || true
    passed=$((passed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log" || true)))
    failed=$((failed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*(Failed|Timeout|Exception|Not Run)' "$log" || true)))
    grep -qE '^100% tests passed' "$log" || [ "$failed" -gt 0 ] || failed=1
    rm -f "$log"
}

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

# All that has threads or talks to what has them.
threaded='^(http|conformance.*|acl_unsupported|acl_program.*|client|client_(pipelined|unpipelined|flushed|process|pipeline|cut_unpipelined|mixed|mixed_unpipelined))$'

case "${1:-all}" in
release) run_preset release ;;
asan) run_preset asan -LE release_only ;;
tsan) run_preset tsan -LE release_only -R "$threaded" ;;
all)
    run_preset release
    run_preset asan -LE release_only
    run_preset tsan -LE release_only -R "$threaded"
    ;;
*)
    echo "usage: ./test.sh [release|asan|tsan]" >&2
    exit 2
    ;;
esac

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
