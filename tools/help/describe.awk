# One --help, as CLI11 lays it out, into rows: see describe.sh. Variables: program, path.
#
# A name begins in column 3, its text in column 31; a name that reaches column 31 has its text in the next line.
BEGIN { OFS = "\t"; section = "about" }

function trim(s) {
  sub(/^ +/, "", s)
  sub(/ +$/, "", s)
  return s
}
function fail(why) {
  printf "%s %s --help, line %d: %s: %s\n", program, path, NR, why, $0 >"/dev/stderr"
  failed = 1
  exit 1
}
function is_balanced(s,   rest) {
  rest = s
  return gsub(/[[{]/, "", rest) == gsub(/[]}]/, "", rest)
}

# Of an option: names up to the first space, then what value it takes. {false} behind a name is the value of a flag.
function finish(   names, value, at, kind) {
  if (entry == "") return
  gsub(/, +-/, ",-", entry)
  at = index(entry, " ")
  names = at ? substr(entry, 1, at - 1) : entry
  value = at ? trim(substr(entry, at + 1)) : ""
  if (names !~ /^-/) kind = section == "positionals" ? "positional" : "command"
  else kind = "option"
  if (kind == "option" && value == "" && match(names, /\{[^}]*\}$/) && names !~ /\{(true|false)\}$/) {
    value = substr(names, RSTART)
    names = substr(names, 1, RSTART - 1)
  }
  gsub(/\{(true|false)\}/, "", names)
  print kind, path, names, value, trim(text)
  entry = ""
}

function begin(line,   head, rest) {
  head = substr(line, 1, 30)
  rest = substr(line, 31)
  text = ""
  if (rest != "" && head ~ / $/ && is_balanced(head) && rest !~ /^(in \[|(TEXT|INT|UINT|FLOAT|BOOLEAN|ENUM|CHAR)([:= ]|$))/) {
    text = rest
    line = head
  }
  entry = trim(line)
}

/\t/ { fail("a tab") }
/^ *$/ { finish(); next }
/^ *Usage: / { section = "usage"; next }
section == "about" { about = about (about == "" ? "" : " ") trim($0); next }
/^[^ ].*:$/ { finish(); section = tolower(substr($0, 1, length($0) - 1)); next }
/^\[Option Group: .*\]$/ { finish(); section = "options"; next }
section == "footer" || /^[^ ]/ { finish(); section = "footer"; footer = footer (footer == "" ? "" : " ") trim($0); next }
/^  [^ ]/ { finish(); begin($0); next }
/^          / && entry != "" { text = text (text == "" ? "" : " ") trim($0); next }
{ fail("not understood") }

END {
  if (failed) exit 1
  finish()
  if (about == "") fail("says nothing about what it is")
  if (path == "") print "program", path, program, "", about
  else print "about", path, "", "", about
  if (footer != "") print "footer", path, "", "", footer
}
