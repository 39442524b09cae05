# The target docs: the reference of the public headers, as web pages in docs/html of the build directory. It exists only
# if doxygen is installed, which nothing else needs.
find_program(CAMBIUM_DOXYGEN doxygen)
mark_as_advanced(CAMBIUM_DOXYGEN)
if(CAMBIUM_DOXYGEN)
  add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -E env OUTPUT=${PROJECT_BINARY_DIR}/docs VERSION=${PROJECT_VERSION}
            ${CAMBIUM_DOXYGEN} docs/Doxyfile
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
