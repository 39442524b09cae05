# What all three completions ask of a row.

# The legal values if the help lists them, as in TEXT:{a,b}=a, with spaces between them.
function choices_of(value,   list) {
  if (!match(value, /\{[^}]*\}/)) return ""
  list = substr(value, RSTART + 1, RLENGTH - 2)
  gsub(/,/, " ", list)
  return list
}
function takes_value(value) { return value != "" }

# For a string between single quotes of a shell: without them, and without what the shells themselves would read.
function plain(s) {
  gsub(/'/, "", s)
  gsub(/\\/, "/", s)
  return s
}
