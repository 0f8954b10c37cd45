# What `cpack` makes of an installed tree: Debian packages of the library and of what programs are compiled with, and an
# archive of both. bindings/ have packages of their own; ./dev package makes all of them.
set(CPACK_PACKAGE_NAME libgather)
set(CPACK_PACKAGE_VENDOR libgather)
set(CPACK_PACKAGE_CONTACT "the authors of libgather <libgather@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_PACKAGE_FILE_NAME libgather-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})

# Debian names a library after its ABI, so that two may be installed.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libgather${abi})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgather-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libgather${abi} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SOURCE libgather)
set(description "gather, gather_nd, gather_elements and their scatters, with the semantics\n\
of several frameworks, behind a C ABI. An error names the first bad index.\n")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "${description}This package has the library.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${description}\
This package has the headers for C and C++, the static library, and the files\nfor CMake and pkg-config.")
# Debian runs ldconfig by a trigger, and CPack would write scripts that call it. It writes no script that is listed here
# and packs none that does not exist.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/triggers
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/postrm)
set(CPACK_NEWS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/debian.cmake)
# One generator puts everything in one package, the other has one for each component.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cpack-options.cmake @ONLY CONTENT
  "if(CPACK_GENERATOR STREQUAL DEB)\n  set(CPACK_COMPONENTS_GROUPING IGNORE)\nelse()\n\
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)\nendif()\n")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/cpack-options.cmake)
include(CPack)
