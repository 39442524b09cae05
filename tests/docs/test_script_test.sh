#!/usr/bin/env bash
# Runs tools/test.sh on small projects without a compiler, and checks its last line and its exit code, which CI reads.
set -u
script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CMAKE_ARGS
failed=0

# Makes a project whose CMakeLists.txt ends with the arguments, one a line.
fresh() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree/tools"
  cp "$script" "$work/tree/tools/test.sh"
  echo 'exit 0' >"$work/tree/tools/install_deps.sh"
  cat >"$work/tree/CMakePresets.json" <<'JSON'
{"version": 6, "configurePresets": [{"name": "check", "generator": "Ninja", "binaryDir": "${sourceDir}/build/check"}]}
JSON
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(small LANGUAGES NONE)' 'enable_testing()' "$@" \
    >"$work/tree/CMakeLists.txt"
}
expect() {  # exit code, last line, what it was, arguments of test.sh...
  local code=$1 line=$2 what=$3 output got
  shift 3
  output=$(bash "$work/tree/tools/test.sh" "$@" 2>&1)
  got=$?
  if [ "$got" -ne "$code" ] || [ "$(tail -n 1 <<<"$output")" != "$line" ]; then
    printf '%s\n%s: exit code %s, expected %s with the last line "%s"\n' "$output" "$what" "$got" "$code" "$line"
    failed=1
  fi
}

good='add_test(NAME good COMMAND true)'
bad='add_test(NAME bad COMMAND false)'
fresh "$good" 'add_test(NAME good_too COMMAND true)'
expect 0 "2 passed, 0 failed" "all good"
fresh "$good" "$bad"
expect 1 "1 passed, 1 failed" "a test that fails"
expect 0 "1 passed, 0 failed" "without the one that fails" -E bad
fresh "$good" "add_test(NAME absent COMMAND $work/no/such/program)"
expect 1 "1 passed, 1 failed" "a test that cannot be run"
fresh "$good" 'add_test(NAME slow COMMAND sleep 30)' 'set_tests_properties(slow PROPERTIES TIMEOUT 1)'
expect 1 "1 passed, 1 failed" "a test that takes too long"
fresh
expect 1 "0 passed, 1 failed" "no test at all"
fresh "$good" 'add_custom_target(broken ALL COMMAND false)'
expect 1 "0 passed, 1 failed" "a build that fails"
fresh "$good" 'message(FATAL_ERROR "no")'
expect 1 "0 passed, 1 failed" "a configuration that fails"
fresh "$good" "$bad" 'add_custom_target(good COMMAND true)' 'add_custom_target(broken ALL COMMAND false)'
expect 0 "1 passed, 0 failed" "a part, which does not need what is broken" -R good
expect 1 "0 passed, 1 failed" "a part that there is not" -R nothing
fresh "$good"
echo 'exit 1' >"$work/tree/tools/install_deps.sh"
expect 1 "0 passed, 1 failed" "packages that cannot be had"
exit "$failed"
