# Finds GoogleTest: sets GATHER_HAS_TESTS, and makes the target GTest::gtest_main. If GATHER_TESTS is AUTO and there is
# no GoogleTest, the configuration prints a line, and the library is built without tests.

find_package(GTest QUIET)
set(GATHER_GOOGLETEST /usr/src/googletest CACHE PATH "Sources of GoogleTest, where no installed one is found")
if(NOT TARGET GTest::gtest_main AND EXISTS ${GATHER_GOOGLETEST}/CMakeLists.txt)
  add_subdirectory(${GATHER_GOOGLETEST} googletest EXCLUDE_FROM_ALL)
  if(NOT TARGET GTest::gtest_main)  # older ones make it only for their own installation
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
endif()

if(TARGET GTest::gtest_main)
  set(GATHER_HAS_TESTS ON)
elseif(GATHER_TESTS STREQUAL AUTO)
  message(STATUS "Tests: none, there is no GoogleTest (Debian: libgtest-dev)")
else()
  message(FATAL_ERROR "GATHER_TESTS is ON, but there is no GoogleTest (Debian: libgtest-dev)")
endif()
