#!/usr/bin/env bash
# check_functions_test.sh SCRIPT: SCRIPT must find long functions of every form, and reasons where none is needed. It must
# accept a long function with a reason right above it, and anything long that is no function.
set -u
script=$1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/src" "$tree/tests"
failed=0

expect() {  # expect STATUS NAME [LINE]: runs the script over the tree; LINE must be printed
  bash "$script" "$tree" > "$tree/out" 2>&1
  local status=$?
  if [ "$status" -ne "$1" ]; then
    echo "FAILED: $2: exit $status, expected $1"; cat "$tree/out"; failed=1
  elif [ $# -gt 2 ] && ! grep -qxF "$3" "$tree/out"; then
    echo "FAILED: $2: not printed: $3"; cat "$tree/out"; failed=1
  fi
}

lines() {  # lines COUNT [INDENT]: so many statements
  local i
  for ((i = 0; i < $1; ++i)); do printf '%s  if (a) { F(a); }\n' "${2:-}"; done
}

# A function has two lines more than its statements, if its head has one line.
{ echo 'void F(int a) {'; lines 68; echo '}'; } > "$tree/src/a.cc"
expect 0 "a function of 70 lines"

# Each is a function of 71 lines or more. The first line of the function is the first after the blank line.
while IFS='|' read -r name indent head; do
  { printf 'int before;\n\n%b {\n' "$head"; lines 69 "$indent"; echo "$indent}"; } > "$tree/tests/a.h"
  count=$(($(wc -l < "$tree/tests/a.h") - 2))
  expect 1 "$name" "tests/a.h:3: a function of $count lines"
done <<'HEADS'
a function||void F(int a)
a test||TEST_F(SomeTest, DoesSomething)
a head of two lines||std::map<int, int> F(int a,\n                       int b)
a template||template <typename T = int>\nT F(std::vector<T> a)
an operator||bool operator==(const A& a, const A& b)
an operator of a class||A& A::operator=(const A& a)
a constructor||A::A(int a)\n    : a_(a), b_{3}
a function that catches||int main(int argc, char** argv) try
a result of a structure||struct a* F(int a)
HEADS

while IFS='|' read -r name head; do
  { printf '%b {\n public:\n  // Comment.\n  int F(int a) {\n' "$head"; lines 69 '  '; printf '  }\n  int a = 0;\n};\n'; } \
    > "$tree/tests/a.h"
  line=$(($(grep -n 'int F' "$tree/tests/a.h" | cut -d: -f1)))
  expect 1 "a member of $name" "tests/a.h:$line: a function of 71 lines"
done <<'HEADS'
a class|class A final : public B
a template|template <typename T>\nclass A
a class with an alignment|struct alignas(64) A
a class in a namespace|namespace a {\n\nstruct A
HEADS
{ printf 'class A {\n  struct B {\n    void F(int a) {\n'; lines 69 '    '; printf '    }\n  };\n};\n'; } > "$tree/tests/a.h"
expect 1 "a member of a class in a class" "tests/a.h:3: a function of 71 lines"

{ printf 'int values[] = {1,\n                2};\nvoid F(int a) {\n'; lines 69; echo '}'; } > "$tree/tests/a.h"
expect 1 "a function after a list" "tests/a.h:3: a function of 71 lines"
{ printf 'void F(int a) {\n#if A\n'; lines 67; printf '#endif\n}\n'; } > "$tree/tests/a.h"
expect 1 "a function with lines of the preprocessor" "tests/a.h:1: a function of 71 lines"
{ printf 'extern "C" {\n\nvoid F(int a) {\n'; lines 69; printf '}\n\n}\n'; } > "$tree/tests/a.h"
expect 1 "a function with C linkage" "tests/a.h:3: a function of 71 lines"

# Reasons.
long() { echo 'void F(int a) {'; lines 69; echo '}'; }
{ printf '// A table.\n// Longer than 70 lines: a table, one row per call.\n'; long; } > "$tree/tests/a.h"
expect 0 "a reason"
{ printf '/* A table. Longer than 70 lines: a table,\n   one row per call. */\n'; long; } > "$tree/tests/a.h"
expect 0 "a reason in C"
{ printf 'class A {\n  // Longer than 70 lines: a table.\n  int F(int a) {\n'; lines 69 '  '; printf '  }\n};\n'; } > "$tree/tests/a.h"
expect 0 "a reason of a member"
{ printf '// Longer than 70 lines:\n'; long; } > "$tree/tests/a.h"
expect 1 "a reason without words" "tests/a.h:2: a function of 71 lines"
{ printf '// Longer than 70 lines: a table.\n\n'; long; } > "$tree/tests/a.h"
expect 1 "a reason that is not right above" "tests/a.h:3: a function of 71 lines"
{ printf '// Longer than 70 lines: a table.\nint a = 3;\n'; long; } > "$tree/tests/a.h"
expect 1 "a reason of something else" "tests/a.h:3: a function of 71 lines"
printf '// Longer than 70 lines: a table.\nvoid F() {\n  G();\n}\n' > "$tree/tests/a.h"
expect 1 "a reason that is not needed" "tests/a.h:2: a function of 3 lines, with a reason for more than 70"

# What is long and no function.
{
  echo '/* F(a) {'; lines 70; echo '*/'
  printf '#define F(a) \\\n'; for _ in {1..70}; do printf '  G(a); { \\\n'; done; printf '  H(a)\n\n'
  echo 'namespace a {'; lines 70 | sed 's/.*/int F(int a);/'; echo '}'
  echo 'const A kTable[] = {'; lines 70 | sed 's/.*/    {"a", F(3)},/'; echo '};'
  echo 'const std::vector<A> kList = F({'; lines 70 | sed 's/.*/    {"a", F(3)},/'; echo '});'
  echo 'class A {'; lines 70 | sed 's/.*/  int F(int a) { return a; }/'; echo '};'
  echo 'enum class E {'; lines 70 | sed 's/.*/  kValue,  \/\/ F(a) {/'; echo '};'
} > "$tree/tests/a.h"
expect 0 "what is no function"

printf 'void F() {\n  G();\n' > "$tree/tests/a.h"
expect 1 "a function without an end" "tests/a.h:1: found no end of this declaration"
rm "$tree/tests/a.h"

bash "$script" "$tree/nowhere" > /dev/null 2>&1
[ $? -eq 2 ] || { echo "FAILED: a tree without src/"; failed=1; }
exit $failed
