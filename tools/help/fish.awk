# Turns rows of describe.sh into a completion for fish. Anything but options and commands completes as a file name.
BEGIN { FS = "\t" }

# The condition of a row: for the program's own rows, no command yet; for a subcommand's rows, all its words.
function condition(path,   n, part, i, all) {
  if (path == "") return "__fish_use_subcommand"
  n = split(path, part, " ")
  for (i = 1; i <= n; i++) all = all (i > 1 ? "; and " : "") "__fish_seen_subcommand_from " part[i]
  return all
}

{ rows[++row_count] = $0 }
$1 == "program" { program = $3 }
$1 == "command" { has_commands = 1 }

END {
  if (program == "") exit 1
  print "# Completion of " program " for fish. Made from its --help."
  for (r = 1; r <= row_count; r++) {
    split(rows[r], field, "\t")
    start = "complete -c " program (has_commands ? " -n '" condition(field[2]) "'" : "")
    if (field[1] == "command") {
      print start " -f -a " field[3] " -d '" plain(field[5]) "'"
    } else if (field[1] == "option") {
      count = split(field[3], name, ",")
      out = start
      for (i = 1; i <= count; i++) {
        if (name[i] ~ /^--/) out = out " -l " substr(name[i], 3)
        else out = out " -s " substr(name[i], 2)
      }
      if (choices_of(field[4]) != "") out = out " -x -a '" plain(choices_of(field[4])) "'"
      else if (takes_value(field[4])) out = out " -r"
      print out " -d '" plain(field[5]) "'"
    }
  }
}
