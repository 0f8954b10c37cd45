# Adds the files that Debian requires in each package. CPack runs this script after the installation of each component
# and before the creation of the packages.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(sources ${CMAKE_CURRENT_LIST_DIR}/debian)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH

function(gzip file)
  # The file contains no name and no time, so that the package is reproducible.
  execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
  set(documents ${share}/doc/${package})
  # It replaces the LICENSE. file(COPY) would keep a LICENSE of the same time.
  configure_file(${sources}/copyright ${documents}/copyright COPYONLY)
  configure_file(${sources}/changelog.in ${documents}/changelog @ONLY)
  gzip(${documents}/changelog)
  configure_file(${CPACK_NEWS} ${documents}/NEWS COPYONLY)
  gzip(${documents}/NEWS)
  configure_file(${sources}/lintian-overrides.in ${share}/lintian/overrides/${package} @ONLY)
  if(CPACK_CUDA_COMPILER)
    execute_process(COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/cuda_licences.py ${CPACK_CUDA_COMPILER}
      ${documents}/copyright COMMAND_ERROR_IS_FATAL ANY)
    file(APPEND ${share}/lintian/overrides/${package}
      "# It replaces the package whose name matches the soname.\n${package}: package-name-doesnt-match-sonames *\n")
  endif()
endforeach()
