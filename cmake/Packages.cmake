# `cpack -G DEB` in the build directory: a package for each component.
#
# There is not one package for all. The number of the shared library allows two versions to be installed side by side,
# so its package may contain nothing else. A server with the tool needs no headers. The bench is linked with every peer
# that was found, RocksDB among them, and the tool must not require their installation.
set(CPACK_PACKAGE_NAME cambium)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # otherwise the project's summary precedes that of each package
set(CPACK_PACKAGE_VENDOR "The Cambium authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Otherwise the umask of the process that runs cpack would decide.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Cambium authors")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # each package depends on the libraries that its files are linked with
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_paths.cmake)

include(cmake/Sbom.cmake)
# Libraries compiled into the tool and the bench.
set(compiled_in "")
if(CAMBIUM_BUILD_TOOLS OR CAMBIUM_BUILD_BENCH)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  set(compiled_in CLI11 ${CLI11_VERSION} ${CLI11_CONFIG} nlohmann_json ${nlohmann_json_VERSION} ${nlohmann_json_CONFIG})
endif()

# cambium_package(tools cambium-tools SECTION utils SUMMARY "..." TEXT "..." [DEPENDS "..."] SBOM TARGETS ...): the
# arguments after SBOM are those of cambium_sbom.
macro(cambium_package component name)
  cmake_parse_arguments(ARG "" "SECTION;SUMMARY;TEXT;DEPENDS" "SBOM" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${ARG_SECTION})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARG_DEPENDS}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}")
  install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component})
  cambium_sbom(${component} ${name} ${ARG_SBOM})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
endmacro()

set(CPACK_COMPONENTS_ALL "")
set(dev_needs "libzstd-dev, liblz4-dev, libxxhash-dev, liburing-dev")
if(TARGET cambium_shared)
  get_target_property(so_version cambium_shared SOVERSION)
  cambium_package(runtime libcambium${so_version} SECTION libs
    SUMMARY "embedded key-value store, shared library"
    TEXT "A B+-tree or an LSM over a log in which values stay where they were written. This is the library with the C interface."
    SBOM TARGETS cambium_shared)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)
  string(APPEND dev_needs ", libcambium${so_version} (= ${PROJECT_VERSION})")
endif()
cambium_package(dev libcambium-dev SECTION libdevel DEPENDS "${dev_needs}"
  SUMMARY "embedded key-value store, for developers"
  TEXT "Headers, the static library with the C++ interface, and what CMake and pkg-config need to find them."
  SBOM TARGETS cambium MODULES libzstd liblz4 libxxhash liburing)
if(TARGET cambium_rocksdb)
  cambium_package(rocksdb libcambium-rocksdb SECTION libs
    SUMMARY "embedded key-value store, in place of RocksDB's library"
    TEXT "The library has the functions of RocksDB's C interface, so that programs and bindings of RocksDB link it unchanged."
    SBOM TARGETS cambium_rocksdb)
endif()
if(CAMBIUM_BUILD_TOOLS)
  cambium_package(tools cambium-tools SECTION database
    SUMMARY "embedded key-value store, offline tool"
    TEXT "The program cambium, which inspects and maintains databases that no process has open."
    SBOM TARGETS cambium_tool HEADERS ${compiled_in})
endif()
if(CAMBIUM_BUILD_BENCH)
  cambium_package(bench cambium-bench SECTION database
    SUMMARY "embedded key-value store, benchmark"
    TEXT "The program cambium_bench, which compares the speed of Cambium with that of its peers."
    SBOM TARGETS cambium_bench HEADERS ${compiled_in})
endif()
include(CPack)
