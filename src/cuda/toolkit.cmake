# Finds nvcc and the static runtime. Sets GATHER_HAS_CUDA and makes the target gather_cuda_runtime. If GATHER_CUDA is
# AUTO and something is missing, the configuration prints the reason and the library is built for the CPU only.

set(oldest_nvcc 13.0)
set(problem "")

# Checks the version before CMake tests the compiler with architectures that an old version does not support.
if(GATHER_CUDA STREQUAL OFF)
  set(problem "GATHER_CUDA is OFF")
else()
  if(NOT CMAKE_CUDA_COMPILER)  # it may have been installed since the last configuration
    unset(CMAKE_CUDA_COMPILER CACHE)
  endif()
  if(CMAKE_CUDA_COMPILER)
    set(nvcc ${CMAKE_CUDA_COMPILER})
  elseif(DEFINED ENV{CUDACXX})
    get_filename_component(nvcc "$ENV{CUDACXX}" PROGRAM)
  else()
    unset(nvcc)
    find_program(nvcc nvcc HINTS ENV CUDA_PATH PATH_SUFFIXES bin NO_CACHE)
  endif()
  set(nvcc_version "")
  if(nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
    string(REGEX MATCH "release [0-9.]+" nvcc_version "${nvcc_version}")
    string(REPLACE "release " "" nvcc_version "${nvcc_version}")
  endif()
  if(NOT nvcc_version)
    set(problem "there is no nvcc: set CUDACXX to one")
  elseif(nvcc_version VERSION_LESS oldest_nvcc)
    set(problem "${nvcc} is of CUDA ${nvcc_version}, ${oldest_nvcc} is needed")
  else()
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
      set(problem "${nvcc} compiles nothing with ${CMAKE_CXX_COMPILER}")
    endif()
  endif()
endif()

# The runtime is linked statically, so that the library loads on machines without CUDA. FindCUDAToolkit is not used
# because that of CMake 3.25 fails with CUDA 13.
if(NOT problem)
  # The architectures do not depend on the GPUs of this machine. The library has machine code for the architectures in
  # use. The library has PTX of the newest one for later GPUs, and PTX of an older one for GPUs without machine code.
  # 7.5 is the oldest one in CUDA 13, and the one of the T4.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90 100-real 120)
  endif()
  enable_language(CUDA)
  get_filename_component(cuda_root "${CMAKE_CUDA_COMPILER}" DIRECTORY)
  get_filename_component(cuda_root "${cuda_root}" DIRECTORY)
  set(cuda_libraries HINTS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} ${cuda_root}/lib64 ${cuda_root}/lib)
  find_library(GATHER_CUDART cudart_static ${cuda_libraries})
  find_library(GATHER_CULIBOS culibos ${cuda_libraries})
  find_path(GATHER_CUDA_INCLUDE cuda_runtime_api.h
    HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} ${cuda_root}/include)
  if(NOT GATHER_CUDART OR NOT GATHER_CUDA_INCLUDE)
    set(problem "${cuda_root} has no static runtime")
  endif()
endif()

set(GATHER_HAS_CUDA OFF)
if(NOT problem)
  set(GATHER_HAS_CUDA ON)
  message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
elseif(GATHER_CUDA STREQUAL ON)
  message(FATAL_ERROR "GATHER_CUDA is ON, but ${problem}")
else()
  message(STATUS "CUDA: none, the library is for the CPU (${problem})")
  return()
endif()

add_library(gather_cuda_runtime INTERFACE)
target_include_directories(gather_cuda_runtime SYSTEM INTERFACE ${GATHER_CUDA_INCLUDE})
target_link_libraries(gather_cuda_runtime INTERFACE ${GATHER_CUDART} Threads::Threads ${CMAKE_DL_LIBS} rt)
if(GATHER_CULIBOS)
  target_link_libraries(gather_cuda_runtime INTERFACE ${GATHER_CULIBOS})
endif()

# Defines how the kernels of an object target are compiled.
function(gather_kernels_setup target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${target} PROPERTIES
    CUDA_STANDARD 17
    CUDA_EXTENSIONS OFF
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/src/cuda/compile.sh
    CUDA_RUNTIME_LIBRARY None)  # the runtime is linked by name above
  target_compile_options(${target} PRIVATE
    --compress-mode=size
    -Xcompiler=-fno-gnu-unique,-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
  target_compile_features(${target} PRIVATE cuda_std_17)
endfunction()
