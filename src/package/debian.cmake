# What Debian requires of each package beyond the files of the project. CPack runs this script after it has installed
# each component into a folder and before it packs them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(sources ${CMAKE_CURRENT_LIST_DIR}/debian)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH

function(gzip file)
  # Without a name and a time, so that the same input gives the same package.
  execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
  set(documents ${share}/doc/${package})
  file(COPY ${sources}/copyright DESTINATION ${documents})
  configure_file(${sources}/changelog.in ${documents}/changelog @ONLY)
  gzip(${documents}/changelog)
  configure_file(${CPACK_NEWS} ${documents}/NEWS COPYONLY)
  gzip(${documents}/NEWS)
  configure_file(${sources}/lintian-overrides.in ${share}/lintian/overrides/${package} @ONLY)
endforeach()
