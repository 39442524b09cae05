# Says which files `cmake --install` puts where. Packages.cmake says which packages cpack makes of them,
# docs/INSTALLING.md how each part is used. No installed file has a path of the build in it: the prefix may be moved as
# a whole.
#
# Components: runtime (the shared library), dev (headers, the static library, files for CMake and pkg-config), rocksdb
# (the library with the names of RocksDB's C interface), tools (cambium), bench (cambium_bench).

# With hooks a build contains code that fails on request, with a sanitizer another memory allocator.
if(CAMBIUM_TEST_HOOKS OR CAMBIUM_SANITIZE)
  install(CODE "message(FATAL_ERROR \"a build with CAMBIUM_TEST_HOOKS or CAMBIUM_SANITIZE is for tests and is not \
installed: use the preset release\")" ALL_COMPONENTS)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cambium)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(generated ${PROJECT_BINARY_DIR}/install)

# cambium_install_pages(tools cambium): the man page and completions that Pages.cmake makes of a program.
function(cambium_install_pages component name)
  install(FILES ${CAMBIUM_PAGES_DIR}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  install(FILES ${CAMBIUM_PAGES_DIR}/${name}.bash RENAME ${name}
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions COMPONENT ${component})
  install(FILES ${CAMBIUM_PAGES_DIR}/_${name}
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions COMPONENT ${component})
  install(FILES ${CAMBIUM_PAGES_DIR}/${name}.fish
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d COMPONENT ${component})
endfunction()

# ---- Libraries and headers ----
install(DIRECTORY include/cambium DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(TARGETS cambium EXPORT cambium-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(cambium_under_rocksdb_names PROPERTIES EXPORT_NAME rocksdb_names)
install(TARGETS cambium_under_rocksdb_names EXPORT cambium-static
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cambium/rocksdb_names)
install(EXPORT cambium-static NAMESPACE cambium:: DESTINATION ${package_dir} COMPONENT dev)
if(TARGET cambium_shared)
  set_target_properties(cambium_shared PROPERTIES EXPORT_NAME shared)
  install(TARGETS cambium_shared EXPORT cambium-shared
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cambium-shared NAMESPACE cambium:: DESTINATION ${package_dir} COMPONENT dev)
endif()
if(TARGET cambium_rocksdb)
  install(TARGETS cambium_rocksdb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT rocksdb)
endif()

# ---- Files for CMake and pkg-config ----
configure_package_config_file(cmake/cambium-config.cmake.in ${generated}/cambium-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${generated}/cambium-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/cambium-config.cmake ${generated}/cambium-config-version.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# Paths relative to the folder of the .pc file.
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH to_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH to_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
configure_file(cmake/cambium-static.pc.in ${generated}/cambium-static.pc @ONLY)
install(FILES ${generated}/cambium-static.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)
if(TARGET cambium_shared)
  configure_file(cmake/cambium.pc.in ${generated}/cambium.pc @ONLY)
  install(FILES ${generated}/cambium.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)
endif()

# ---- Programs ----
if(CAMBIUM_BUILD_TOOLS)
  install(TARGETS cambium_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  cambium_install_pages(tools cambium)
endif()
if(CAMBIUM_BUILD_BENCH)
  install(TARGETS cambium_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bench)
  cambium_install_pages(bench cambium_bench)
endif()

if(PROJECT_IS_TOP_LEVEL)  # otherwise the other project makes its packages
  include(cmake/Packages.cmake)
endif()
