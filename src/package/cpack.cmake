# Configures `cpack`. It creates a Debian package of the library, one of the development files, and an archive of both.
# Bindings have their own packages. `./dev package` creates all packages.
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

# In Debian, the package name contains the ABI number, so that two versions can be installed.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgather-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libgather${abi} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SOURCE libgather)
set(description "gather, gather_nd, gather_elements and their scatters, with the\n\
semantics of several frameworks, behind a C ABI. An error states the\nfirst invalid index.\n")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "${description}This package contains the library.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${description}\
This package contains the headers for C and C++, the static library,\nand the files for CMake and pkg-config.")
# Debian runs ldconfig by a trigger. CPack would generate the scripts postinst and postrm that call it. It generates no
# script that is listed here, and it ignores listed scripts that do not exist.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/triggers
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/postrm)
# The package of the library with CUDA replaces that of the library for the CPU. It contains code of NVIDIA that is not
# free software. So its area is non-free. The area contrib is for free software that needs other software.
if(GATHER_HAS_CUDA)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION non-free/libs)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_PROVIDES "libgather${abi} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS libgather${abi})
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_REPLACES libgather${abi})
  string(APPEND CPACK_DEBIAN_RUNTIME_DESCRIPTION
    " It contains code for CUDA\ndevices. Without a driver of NVIDIA it runs on the CPU.")
  # Programs depend on either of the packages.
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/shlibs "libgather ${abi} libgather${abi} (>= ${PROJECT_VERSION})\n")
  list(APPEND CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/shlibs)
  set(CPACK_CUDA_COMPILER ${CMAKE_CUDA_COMPILER})
endif()
set(CPACK_NEWS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/debian.cmake)
# The archive contains all components. There is one Debian package for each component.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cpack-options.cmake @ONLY CONTENT
  "if(CPACK_GENERATOR STREQUAL DEB)\n  set(CPACK_COMPONENTS_GROUPING IGNORE)\nelse()\n\
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)\nendif()\n")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/cpack-options.cmake)
include(CPack)
