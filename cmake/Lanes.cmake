# SPDX-License-Identifier: Apache-2.0
#
# smk_lanes(TARGET CLASS FILE CONFIG name [RTL folder] [DEPENDS file...])
#
# A static library with the module of FILE in a configuration of rtl/config, as class smk::lanes::CLASS in
# which every instance is a lane of a word, made by synth/lanes/make_lanes.py; header TARGET.h without smk_lanes_. With
# RTL, all modules come from a copy of rtl/ that is made with DEPENDS. Needs Yosys. docs/lanes.md has the rest.
find_program(SMK_YOSYS yosys REQUIRED)
set(_smk_lanes_folder "${PROJECT_SOURCE_DIR}/synth" CACHE INTERNAL "")

function(smk_lanes target class file)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "CONFIG;RTL" "DEPENDS")
  set(rtl "${PROJECT_SOURCE_DIR}/rtl")
  if(arg_RTL)
    set(rtl "${arg_RTL}")
  endif()
  set(scripts "${_smk_lanes_folder}/lanes")
  string(REGEX REPLACE "^smk_lanes_" "" name "${target}")
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/lanes/${target}")
  set(made "${dir}/${name}")
  file(MAKE_DIRECTORY "${dir}")
  add_custom_command(OUTPUT "${made}.h" "${made}.cc"
    COMMAND Python3::Interpreter -B "${scripts}/make_lanes.py" --yosys "${SMK_YOSYS}" --rtl "${rtl}"
      --config "${rtl}/config/${arg_CONFIG}" --module "${file}" --class "${class}" --out "${made}"
    DEPENDS "${scripts}/make_lanes.py" ${arg_DEPENDS}
    DEPFILE "${made}.d"
    COMMENT "Compiling ${class} to lanes"
    VERBATIM)
  add_library(${target} STATIC "${made}.cc" "${made}.h")
  target_include_directories(${target} SYSTEM PUBLIC "${dir}")
  # Straight-line code that is as fast at every level, and shortest at this one: it should leave room in the
  # instruction cache. The sanitizers would only make it long.
  target_compile_options(${target} PRIVATE -Os -g0 -fomit-frame-pointer $<$<CONFIG:Debug>:-fno-sanitize=all>)
endfunction()
