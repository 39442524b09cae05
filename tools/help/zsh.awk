# Turns rows of describe.sh into a completion for zsh: one function for the program, and one for each subcommand.
BEGIN { FS = "\t" }

function bracketed(s) {  # inside [...] of _arguments
  s = plain(s)
  gsub(/\[/, "(", s)
  gsub(/\]/, ")", s)
  gsub(/:/, "\\:", s)
  return s
}
function function_of(path,   f) {
  f = "_" program (path == "" ? "" : "_" path)
  gsub(/[^A-Za-z0-9_]/, "_", f)
  return f
}
function option(names, value, text,   n, part, i, out, list) {
  n = split(names, part, ",")
  for (i = 1; i <= n; i++) {
    list = choices_of(value)
    out = out "    '" part[i] (takes_value(value) && part[i] ~ /^--/ ? "=" : "") "[" bracketed(text) "]"
    if (takes_value(value)) out = out ":value:" (list == "" ? "_files" : "(" plain(list) ")")
    out = out "' \\\n"
  }
  return out
}

$1 == "program" { program = $3; paths[0] = "" }
$1 == "about" { paths[++path_count] = $2 }
$1 == "option" { options[$2] = options[$2] option($3, $4, $5) }
$1 == "command" {
  commands[$2] = commands[$2] (commands[$2] == "" ? "" : " ") $3
}

END {
  if (program == "") exit 1
  print "#compdef " program
  print "# Made from the --help of " program "."
  for (i = path_count; i >= 0; i--) {
    p = paths[i]
    print function_of(p) "() {"
    if (commands[p] == "") {
      printf "  _arguments -s \\\n%s    '*:file:_files'\n", options[p]
    } else {
      print "  local curcontext=\"$curcontext\" state line"
      printf "  _arguments -C -s \\\n%s    '1:command:(%s)' \\\n    '*::argument:->argument'\n", options[p], plain(commands[p])
      print "  if [[ $state == argument ]]; then"
      print "    case $line[1] in"
      n = split(commands[p], sub_name, " ")
      for (j = 1; j <= n; j++) {
        print "      " sub_name[j] ") " function_of((p == "" ? "" : p " ") sub_name[j]) " ;;"
      }
      print "    esac"
      print "  fi"
    }
    print "}"
  }
  print function_of("") " \"$@\""
}
