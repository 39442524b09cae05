# Turns one --help in CLI11's layout into rows: see describe.sh. Variables: program, path.
#
# A name begins in column 3, its text in column 31; if the name reaches column 31, the text is on the next line.
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

# Prints an entry. An option has its names up to the first space, then its value. {false} after a name is a flag's
# value.
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
