# SPDX-License-Identifier: Apache-2.0
#
# The target smk_version gives the header "smk/version.h" with the project's version and git's
# description of the checkout. Looked at in each build, written only when it changes. This file is
# both the module that defines the target and the script (cmake -P) that writes the header.
if(CMAKE_SCRIPT_MODE_FILE)
  set(describe "unknown")
  find_program(GIT git)
  if(GIT)
    # Without optional locks: a build must not disturb another git command in the same checkout.
    execute_process(
      COMMAND "${GIT}" --no-optional-locks describe --always --dirty --tags
      WORKING_DIRECTORY "${SOURCE_DIR}"
      RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(describe "${output}")
    endif()
  endif()
  set(text "// Written by cmake/Version.cmake.
#pragma once

namespace smk {
inline constexpr char kVersion[] = \"${VERSION}\";
inline constexpr char kGitDescribe[] = \"${describe}\";
}  // namespace smk
")
  set(old "")
  if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE "${OUTPUT}" "${text}")
  endif()
  return()
endif()

set(_smk_version_header "${PROJECT_BINARY_DIR}/generated/smk/version.h")
add_custom_target(smk_version_header
  COMMAND "${CMAKE_COMMAND}"
    "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
    "-DOUTPUT=${_smk_version_header}" -P "${CMAKE_CURRENT_LIST_FILE}"
  BYPRODUCTS "${_smk_version_header}"
  COMMENT "")
add_library(smk_version INTERFACE)
target_include_directories(smk_version INTERFACE "${PROJECT_BINARY_DIR}/generated")
add_dependencies(smk_version smk_version_header)
