# Cambium as an overlay port: `vcpkg install cambium --overlay-ports=packaging/vcpkg`. It builds the tree that it lies
# in. docs/INSTALLING.md says what of it has been run.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)  # the C++ interface has no shared library
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DCAMBIUM_BUILD_TOOLS=OFF
    -DCAMBIUM_BUILD_BENCH=OFF
    -DCAMBIUM_BUILD_ROCKSDB=OFF
    -DCAMBIUM_WERROR=OFF
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
foreach(folder IN ITEMS "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/debug/lib")
  file(GLOB shared "${folder}/libcambium.so*" "${folder}/pkgconfig/cambium.pc"
    "${folder}/cmake/cambium/cambium-shared*")
  if(shared)
    file(REMOVE ${shared})
  endif()
endforeach()
vcpkg_cmake_config_fixup(PACKAGE_NAME cambium CONFIG_PATH lib/cmake/cambium)
vcpkg_fixup_pkgconfig()

# vcpkg writes a bill of materials of its own.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
