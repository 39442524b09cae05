# Turns rows of describe.sh into a man page. Variable: version. Rows are collected first, since a page has another order
# than the help.
BEGIN { FS = "\t" }

function escape(s) {
  gsub(/\\/, "\\e", s)
  gsub(/-/, "\\-", s)
  gsub(/"/, "\\(dq", s)
  sub(/^[.']/, "\\\\\\&&", s)
  return s
}
# An entry of a list: names in bold, placeholders in italics. ".TP" takes the next line as the tag.
function entry(names, value, text,   i, n, part, tag) {
  n = split(names, part, ",")
  tag = ""
  for (i = 1; i <= n; i++) tag = tag (i > 1 ? ", " : "") "\\fB" escape(part[i]) "\\fR"
  if (value != "") tag = tag " \\fI" escape(value) "\\fR"
  return ".TP\n" tag "\n" escape(text) "\n"
}
# CLI11's description of a value, without the words that do not help a reader.
function shown(value) {
  sub(/ ?REQUIRED/, "", value)
  sub(/^TEXT:/, "", value)
  sub(/^TEXT/, "", value)
  return value
}
function line(s) { printf "%s\n", s }

$1 == "program" { program = $3; about = $5 }
$1 == "about" { about_of[$2] = $5; paths[++path_count] = $2 }
$1 == "command" { commands[$2] = commands[$2] entry($2 == "" ? $3 : $2 " " $3, "", $5); command_count++ }
$1 == "positional" {
  arguments[$2] = arguments[$2] entry($3, shown($4) == $3 ? "" : shown($4), $5)
  optional = $4 !~ /REQUIRED/
  synopsis[$2] = synopsis[$2] " " (optional ? "[" : "") "\\fI" escape($3) "\\fR" (optional ? "]" : "")
}
$1 == "option" { options[$2] = options[$2] entry($3, $4 == "TEXT" ? "TEXT" : shown($4), $5) }
$1 == "footer" && $2 == "" { footer = $5 }
# A subcommand inherits the program's footer; only a footer of its own is printed.
$1 == "footer" && $2 != "" { footer_of[$2] = $5 }

END {
  if (program == "") exit 1
  upper = toupper(program)
  line(".\\\" Made from the --help of " program ": change that.")
  line(".TH \"" escape(upper) "\" 1 \"\" \"cambium " escape(version) "\" \"Cambium\"")
  line(".SH NAME")
  what = tolower(substr(about, 1, 1)) substr(about, 2)
  sub(/\..*/, "", what)
  line(escape(program) " \\- " escape(what))
  line(".SH SYNOPSIS")
  if (!command_count) line("\\fB" escape(program) "\\fR [\\fIoptions\\fR]" synopsis[""])
  else for (i = 1; i <= path_count; i++) {
    if (i > 1) line(".br")
    line("\\fB" escape(program " " paths[i]) "\\fR [\\fIoptions\\fR]" synopsis[paths[i]])
  }
  line(".SH DESCRIPTION")
  line(escape(about))
  if (commands[""] != "") printf ".SH COMMANDS\n%s", commands[""]
  if (arguments[""] != "") printf ".SH ARGUMENTS\n%s", arguments[""]
  printf ".SH OPTIONS\n%s", options[""]
  for (i = 1; i <= path_count; i++) {
    p = paths[i]
    line(".SH \"" escape(toupper(program " " p)) "\"")
    line(escape(about_of[p]))
    printf "%s%s%s", commands[p], arguments[p], options[p]
    if (footer_of[p] != "" && footer_of[p] != footer) printf ".PP\n%s\n", escape(footer_of[p])
  }
  if (footer ~ /^Exit codes: /) {
    line(".SH EXIT STATUS")
    line(escape(substr(footer, length("Exit codes: ") + 1)))
  } else if (footer != "") {
    line(".SH NOTES")
    line(escape(footer))
  }
}
