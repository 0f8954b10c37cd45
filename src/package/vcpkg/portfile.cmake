# A port of vcpkg that builds this tree: vcpkg install libgather --overlay-ports=src/package/vcpkg
vcpkg_cmake_configure(
  SOURCE_PATH ${CMAKE_CURRENT_LIST_DIR}/../../..
  OPTIONS -DGATHER_CUDA=OFF -DGATHER_TESTS=OFF -DGATHER_DEMO=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME gather CONFIG_PATH lib/cmake/gather)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${CMAKE_CURRENT_LIST_DIR}/../../../LICENSE)
