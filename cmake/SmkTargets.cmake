# SPDX-License-Identifier: Apache-2.0
#
# What all our own targets have in common. Verilated code does not get these: it has other warnings.

# Warnings are errors in continuous integration (.ci/run) only: other compilers warn of other things. What the
# environment says when a folder is configured first holds for it: a test that configures it again changes nothing.
set(SMK_WERROR "$ENV{SMK_WERROR}" CACHE BOOL "Warnings are errors")
add_library(smk_warnings INTERFACE)
# Two warnings of g++ 12 are wrong about inlined standard library and fmt code at -O3, and one about
# std::regex under the sanitizers.
target_compile_options(smk_warnings INTERFACE
  -Wall -Wextra $<$<BOOL:${SMK_WERROR}>:-Werror> -Wno-free-nonheap-object -Wno-stringop-overflow
  $<$<CONFIG:Debug>:-Wno-maybe-uninitialized>)

# smk_compile_together(TARGET [FILES n]): headers are most of what the compiler reads, so all files are one unit, or n at a time. What
# is in one is optimized together; there is no link-time optimization. Names in unnamed namespaces must differ within the target.
function(smk_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILES" "")
  if(NOT arg_FILES)
    set(arg_FILES 0)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_FILES})
endfunction()

# smk_add_library(NAME SOURCES file... DEPENDS target...)
# A static library; without sources an INTERFACE library, so that users can link it all the same.
function(smk_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC ${arg_DEPENDS} PRIVATE smk_warnings)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${arg_DEPENDS})
  endif()
endfunction()
