# cambium_pages(cambium_tool): a man page and completions for bash, zsh and fish, made from the program's own --help
# whenever it has been linked anew. They lie in pages/ of the build directory; Install.cmake takes them from there.
set(CAMBIUM_PAGES_DIR ${PROJECT_BINARY_DIR}/pages)
function(cambium_pages target)
  get_target_property(name ${target} OUTPUT_NAME)
  if(NOT name)
    set(name ${target})
  endif()
  set(pages ${CAMBIUM_PAGES_DIR}/${name}.1 ${CAMBIUM_PAGES_DIR}/${name}.bash ${CAMBIUM_PAGES_DIR}/_${name}
            ${CAMBIUM_PAGES_DIR}/${name}.fish)
  set(make ${PROJECT_SOURCE_DIR}/tools/help)
  add_custom_command(OUTPUT ${pages}
    COMMAND bash ${make}/make_pages.sh $<TARGET_FILE:${target}> ${PROJECT_VERSION} ${CAMBIUM_PAGES_DIR}
    DEPENDS ${target} ${make}/make_pages.sh ${make}/describe.sh ${make}/describe.awk ${make}/man.awk ${make}/values.awk
            ${make}/bash.awk ${make}/zsh.awk ${make}/fish.awk
    COMMENT "Man page and completions of ${name}" VERBATIM)
  add_custom_target(${target}_pages ALL DEPENDS ${pages})
endfunction()
