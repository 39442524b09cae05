# Functions of all three completions.

# The legal values if the help lists them, as in TEXT:{a,b}=a; separated by spaces.
function choices_of(value,   list) {
  if (!match(value, /\{[^}]*\}/)) return ""
  list = substr(value, RSTART + 1, RLENGTH - 2)
  gsub(/,/, " ", list)
  return list
}
function takes_value(value) { return value != "" }

# Text for a string in single quotes of a shell: without single quotes and backslashes.
function plain(s) {
  gsub(/'/, "", s)
  gsub(/\\/, "/", s)
  return s
}
