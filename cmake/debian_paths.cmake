# cpack runs this before it packs. Debian's zsh looks for the completions of packages in vendor-completions. On other
# systems, and below /usr/local, site-functions is right.
file(GLOB_RECURSE completions "${CPACK_TEMPORARY_DIRECTORY}/_cambium*")
foreach(completion IN LISTS completions)
  cmake_path(GET completion PARENT_PATH folder)
  if(folder MATCHES "/zsh/site-functions$")
    cmake_path(REPLACE_FILENAME folder vendor-completions OUTPUT_VARIABLE debian)
    file(RENAME "${folder}" "${debian}")
  endif()
endforeach()
