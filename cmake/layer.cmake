# add_layer(hw SOURCES ledger.cc DEPS base LIBS fmt::fmt): a static library per folder of src/, its
# sources listed by name, and one test program from tests/<folder>/*_test.cc with the label "unit"
# (TESTS names another folder of tests/).
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Threads REQUIRED)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")
# Line tables are what a sanitizer's report needs; full debug information doubles the time of a build.
set(CMAKE_CXX_FLAGS_DEBUG "-g1")

add_library(build_flags INTERFACE)
target_compile_features(build_flags INTERFACE cxx_std_20)
target_include_directories(build_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
# -ffp-contract=off: two builds of one sum must give the same bits; kernels use FMA by intrinsics.
target_compile_options(build_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 is wrong about std::string's operator+ here.
  target_compile_options(build_flags INTERFACE -Wno-restrict)
endif()
if(HWTV_WERROR)
  target_compile_options(build_flags INTERFACE -Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(build_flags INTERFACE -march=x86-64-v2)
endif()
target_link_libraries(build_flags INTERFACE fmt::fmt Threads::Threads)

function(add_layer name)
  cmake_parse_arguments(ARG "" "TESTS" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT ARG_TESTS)
    set(ARG_TESTS ${name})
  endif()
  string(REPLACE "/" "_" target ${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS REPLACE "/" "_")
  target_link_libraries(${target} PUBLIC build_flags ${ARG_DEPS} ${ARG_LIBS})
  if(HWTV_TESTS)
    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${ARG_TESTS}/*_test.cc)
    if(tests)
      add_executable(${target}_test ${tests})
      target_include_directories(${target}_test PRIVATE ${CMAKE_SOURCE_DIR})
      target_link_libraries(${target}_test PRIVATE ${target} GTest::gtest GTest::gtest_main)
      add_test(NAME ${target} COMMAND ${target}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
      set_tests_properties(${target} PROPERTIES LABELS unit)
    endif()
  endif()
endfunction()

# add_fuzzer(gguf tests/gguf/gguf_fuzz.cc DEPS gguf): a libFuzzer program; only the preset "fuzz"
# builds it.
if(HWTV_FUZZERS)
  add_custom_target(fuzzers)
endif()
function(add_fuzzer name source)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  if(HWTV_FUZZERS)
    add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/${source})
    target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(fuzz_${name} PRIVATE ${ARG_DEPS} -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${name})
  endif()
endfunction()

# Compiles one file for one instruction set; the rest of the program stays at the baseline.
function(kernel_isa file)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${ARGN}")
endfunction()
