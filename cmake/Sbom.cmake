# cambium_sbom(tools cambium-tools TARGETS cambium_tool [MODULES libzstd ...] [HEADERS CLI11 VERSION FILE ...]): an
# SPDX 2.3 document about what the targets of a component are linked with. MODULES are pkg-config's names of libraries
# that the user of a static library links. HEADERS are libraries that are compiled in: name, version and a file of each.
# The build writes sbom/PACKAGE.spdx.json after it has linked the targets, because the document is made from them.
add_custom_target(cambium_sboms ALL)
function(cambium_sbom component package)
  cmake_parse_arguments(ARG "" "" "TARGETS;MODULES;HEADERS" ${ARGN})
  set(output ${PROJECT_BINARY_DIR}/sbom/${package}.spdx.json)
  set(files)
  foreach(target IN LISTS ARG_TARGETS)
    list(APPEND files $<TARGET_FILE:${target}>)
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DPACKAGE=${package} -DVERSION=${PROJECT_VERSION} "-DFILES=${files}"
            "-DMODULES=${ARG_MODULES}" "-DHEADERS=${ARG_HEADERS}" -DOUTPUT=${output} -DSOURCES=${PROJECT_SOURCE_DIR}
            -DOBJDUMP=${CMAKE_OBJDUMP} -DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE}
            -P ${PROJECT_SOURCE_DIR}/cmake/write_sbom.cmake
    DEPENDS ${ARG_TARGETS} ${PROJECT_SOURCE_DIR}/cmake/write_sbom.cmake
    COMMENT "Bill of materials of ${package}" VERBATIM)
  add_custom_target(${package}_sbom DEPENDS ${output})
  add_dependencies(cambium_sboms ${package}_sbom)
  install(FILES ${output} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${component})
endfunction()
