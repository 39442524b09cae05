# Turns rows of describe.sh into a completion for bash. Anything but options and commands completes as a file name.
BEGIN { FS = "\t" }

$1 == "program" { program = $3 }
$1 == "about" { paths[++path_count] = $2 }
$1 == "command" { commands[$2] = commands[$2] " " $3 }
$1 == "option" {
  names = $3
  gsub(/,/, " ", names)
  options[$2] = options[$2] " " names
  if (!takes_value($4)) next
  pattern = $3
  gsub(/,/, "|", pattern)
  gsub(/\|/, "\"|\"" $2 " ", pattern)
  values = values "    \"" $2 " " pattern "\") COMPREPLY=($(compgen -W '" plain(choices_of($4)) "' -- \"$current\")); return ;;\n"
}

END {
  if (program == "") exit 1
  paths[0] = ""
  print "# Completion of " program " for bash. Made from its --help."
  print "_" program "() {"
  print "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= words= i"
  print "  COMPREPLY=()"
  if (path_count) {
    print "  for ((i = 1; i < COMP_CWORD; i++)); do"
    print "    case \"${path:+$path }${COMP_WORDS[i]}\" in"
    for (i = 1; i <= path_count; i++) print "      \"" paths[i] "\") path=\"" paths[i] "\" ;;"
    print "    esac"
    print "  done"
  }
  print "  case \"$path $before\" in"
  printf "%s", values
  print "  esac"
  print "  case \"$path\" in"
  for (i = 0; i <= path_count; i++) {
    print "    \"" paths[i] "\")"
    print "      words='" plain(trim(commands[paths[i]])) "'"
    print "      [[ $current != -* ]] || words='" plain(trim(options[paths[i]])) "' ;;"
  }
  print "  esac"
  print "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))"
  print "}"
  print "complete -o default -F _" program " " program
}

function trim(s) {
  sub(/^ +/, "", s)
  return s
}
