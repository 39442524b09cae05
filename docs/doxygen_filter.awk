# Converts a header for doxygen. Lines of comment become "///", a comment after code "///<". The comment at the
# beginning of a file documents the file. Text that doxygen would take for commands, links or tags is escaped. Indented
# lines (programs and tables) are shown as they are drawn.
function shield(s) {
  gsub(/[\\@]/, "\\\\&", s)
  gsub(/[<>&#%"]/, "\\\\&", s)
  gsub(/[*_|~`]/, "\\\\&", s)
  gsub(/::/, "\\::", s)
  return s
}
# Ends a piece of code that was begun.
function close_code(indent) {
  if (in_code) print indent "/// \\endcode"
  in_code = 0
}

FNR == 1 {
  in_code = 0
  print "/// \\file"
}

/^ *\/\/ ---- / { close_code(""); print ""; next }  # a heading between members

/^ *\/\// {
  match($0, /^ */)
  indent = substr($0, 1, RLENGTH)
  text = substr($0, RLENGTH + 3)
  if (text ~ /^   / && (in_code || after_empty)) {
    if (!in_code) print indent "/// \\code{.unparsed}"
    in_code = 1
    print indent "/// " text
  } else if (text ~ /^ *$/ ) {
    print indent "///"
    after_empty = 1
    next
  } else {
    close_code(indent)
    sub(/^ +/, " ", text)
    print indent "///" shield(text)
  }
  after_empty = 0
  next
}

{
  close_code("")
  after_empty = 0
  at = index($0, "  // ")
  if (at) print substr($0, 1, at) " ///< " shield(substr($0, at + 5))
  else print
}
