# SPDX-License-Identifier: Apache-2.0
#
# What the folders of tests share: tb and tests.
find_package(GTest REQUIRED)
# Debian's Python before any other: it is the one that has python3-yaml.
find_program(Python3_EXECUTABLE python3 HINTS /usr/bin)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(GoogleTest)

# smk_add_tests(LABEL [NAME name] SOURCES file... [LIBRARIES target...])
# The GoogleTest program <name>_tests, or <label>_tests. CTest knows each test as <label>.Suite.Test, with that label.
function(smk_add_tests label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "SOURCES;LIBRARIES")
  if(NOT arg_NAME)
    set(arg_NAME ${label})
  endif()
  set(target ${arg_NAME}_tests)
  # main.cc and not GTest's own library: SystemC's library brings another main().
  add_executable(${target} ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/tests/main.cc")
  target_link_libraries(${target} PRIVATE GTest::gmock ${arg_LIBRARIES} smk_warnings)
  # What they test is optimized; they themselves are read by the compiler once and run for a moment. Those of
  # blocks and of the model call much that is in headers.
  set(level -O0)
  if(label MATCHES "^(unit|cosim|model|chip)$")
    set(level -O1)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  # Not those of drawers, whose names are alike, and those beside verilated models of several sizes.
  if(NOT label MATCHES "^(unit|cosim)$" AND NOT arg_NAME STREQUAL "sim_cosim")
    smk_compile_together(${target} FILES 8)
  endif()
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/tb" "${PROJECT_SOURCE_DIR}/sim")
  target_compile_definitions(${target} PRIVATE "SMK_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}/sim\"")
  gtest_discover_tests(${target}
    TEST_PREFIX ${label}.
    PROPERTIES LABELS ${label}
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    NO_PRETTY_VALUES
    DISCOVERY_MODE PRE_TEST)
endfunction()

# The blocks that have lockstep tests, by the names of their drawers.
file(GLOB smk_tb_blocks CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tb"
  "${PROJECT_SOURCE_DIR}/tb/*/lockstep_test.cc")
list(TRANSFORM smk_tb_blocks REPLACE "/.*" "")

# The files of a block's lockstep tests. The first of them includes all verilated blocks.
function(smk_find_lockstep_tests block result)
  set(drawer "${PROJECT_SOURCE_DIR}/tb/${block}")
  file(GLOB parts CONFIGURE_DEPENDS "${drawer}/lockstep_*_test.cc")
  set(${result} "${drawer}/lockstep_test.cc" ${parts} PARENT_SCOPE)
  # sm_control's compares diagrams with the page that shows them.
  set_source_files_properties("${drawer}/lockstep_clock_test.cc" PROPERTIES
    COMPILE_DEFINITIONS "SMK_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}/sim\"")
endfunction()

# The verilated blocks that a test includes, as libraries: smk_rtl_<block> and the like.
function(smk_find_verilated file result)
  file(STRINGS "${file}" includes REGEX "^#include <V(smk|fermi|small|v100)_[a-z_]+\\.h>")
  list(FILTER includes EXCLUDE REGEX "_smk_pkg\\.h>")
  list(TRANSFORM includes REPLACE "^#include <V(.*)\\.h>.*" "smk_rtl_\\1")
  list(TRANSFORM includes REPLACE "^smk_rtl_smk_" "smk_rtl_")
  set(${result} ${includes} PARENT_SCOPE)
endfunction()
