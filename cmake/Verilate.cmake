# SPDX-License-Identifier: Apache-2.0
#
# smk_verilate(TARGET MODULE FILE [CONFIG name] [PREFIX name] [INNER] [FAST]
#              [TRACE_DEPTH levels] [SHELLS folder] [RTL folder DEPENDS file...])
#
# A static library with the verilated MODULE, as class V<module> or V<prefix>, in configuration CONFIG of
# rtl/config (gtx980), or of a folder that is named by its whole path. With INNER, the scope
# of a model in waveforms is the module itself: no scope of ports around it, so that several models
# can be traced into one hierarchy. With FAST, it is compiled for speed. Waveforms
# hold TRACE_DEPTH levels of the hierarchy, or all. With RTL, modules come from
# a changed copy of rtl/ that is made with DEPENDS, and there are no waveforms. Modules of the folder SHELLS
# take the places of those of the same names. The checkers in
# tb/<block> of all other modules inside are bound. Not verilate() of Verilator's
# own CMake package: that one runs Verilator while configuring, so that a slip in one
# file stops everybody's build, and compiles Verilator's run time anew into every library. Here a
# block is one custom command and two translation units, what runs once (__slow.cpp, not optimized) and
# the rest (__all.cpp), and the run time is compiled once.
#
# smk_verilate_control_plane(NAME CONFIG name [FAST] [TRACE_DEPTH levels] [RTL folder DEPENDS file...])
#
# The same of the parts of a control plane that are evaluated apart, as classes V<name>_driver, _arbiter, _planner,
# _profiler, _usage, _tables, _scheduler, _profile and _sample; target smk_<name> has all. FAST is for an SM's parts: the driver runs in
# few cycles. sim/cosim/built/build_rtl.sh builds the same parts for a machine of a user.
#
# smk_verilate_driver(NAME CONFIG name [TRACE_DEPTH levels] [RTL folder DEPENDS file...])
#
# The first five of them; target smk_<name>_whole_driver has all.
#
# This file is both the module that defines the functions and the script (cmake -P) that lists the
# checkers and writes the translation unit.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED CHECKERS)
  set(queue "${FILE}")
  set(seen "smk_pkg" ${SHELLS})
  set(found "")
  while(queue)
    list(POP_FRONT queue file)
    file(READ "${file}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "smk_[a-z0-9_]+" names "${text}")
    list(REMOVE_DUPLICATES names)
    list(REMOVE_ITEM names ${seen})
    list(APPEND seen ${names})
    foreach(name IN LISTS names)
      file(GLOB files "${RTL}/*/${name}.sv" "${RTL}/*/*/${name}.sv")
      list(APPEND queue ${files})
      set(checkers "${CHECKERS}")
      list(FILTER checkers INCLUDE REGEX "/${name}_checker[.]sv$")
      list(APPEND found ${checkers})
    endforeach()
  endwhile()
  list(SORT found)
  string(JOIN "\n" text ${found})
  file(WRITE "${OUT}" "${text}\n")
  return()
elseif(CMAKE_SCRIPT_MODE_FILE)
  # Takes the ports, and then the scope of the module, out of the function that declares a model's signals.
  function(smk_without_module_scope module variable)
    set(text "${${variable}}")
    string(FIND "${text}" "pushNamePrefix(\"${module} \")" at)
    if(at GREATER 0)  # Verilator 5.006
      string(SUBSTRING "${text}" 0 ${at} ports)
      string(SUBSTRING "${text}" ${at} -1 rest)
      string(REGEX REPLACE "tracep->decl(Bit|Bus|Quad|Array)\\([^\n]*\n" "" ports "${ports}")
      string(REPLACE "pushNamePrefix(\"${module} \")" "pushNamePrefix(\"\")" rest "${rest}")
      set(text "${ports}${rest}")
    endif()
    string(FIND "${text}" "tracep->pushPrefix(\"${module}\"," at)
    if(at GREATER 0)  # Verilator 5.032
      string(SUBSTRING "${text}" 0 ${at} ports)
      string(SUBSTRING "${text}" ${at} -1 rest)
      string(REGEX REPLACE "\n    tracep->[^\n]*" "" ports "${ports}")
      set(name "std::string{vlSymsp->name()}")
      string(REPLACE "pushPrefix(\"${module}\"," "pushPrefix(${name}.substr(${name}.rfind(' ') + 1)," rest "${rest}")
      set(text "${ports}${rest}")
    endif()
    set(${variable} "${text}" PARENT_SCOPE)
  endfunction()
  file(GLOB parts RELATIVE "${DIR}" "${DIR}/*.cpp")
  list(SORT parts)
  if(SOURCE)
    # A failing assertion names its file relative to the source folder, as __FILE__ does.
    foreach(part IN LISTS parts)
      file(READ "${DIR}/${part}" text)
      string(REPLACE "_MT(\"${SOURCE}/" "_MT(\"" relative "${text}")
      if(NOT relative STREQUAL text)
        file(WRITE "${DIR}/${part}" "${relative}")
      endif()
    endforeach()
  endif()
  set(included "")
  if(INNER)
    file(GLOB traces "${DIR}/*__Trace__*__Slow.cpp")
    foreach(trace IN LISTS traces)
      file(READ "${trace}" text)
      smk_without_module_scope("${MODULE}" text)
      file(WRITE "${trace}" "${text}")
    endforeach()
    # Verilator 5.032 takes the last word of a model's name for its scope; 5.006 makes a scope of each word.
    file(READ "${DIR}/${PREFIX}.cpp" text)
    set(name "std::string{vlSymsp->name()}")
    string(REPLACE "tracep->pushPrefix(${name}," "std::istringstream outer{${name}.substr(0, ${name}.rfind(' ') + 1)};
    for (std::string word; outer >> word;) tracep->pushPrefix(word," changed "${text}")
    if(NOT changed STREQUAL text)
      string(REPLACE "tracep->popPrefix();" "for (const char c : ${name}) if (c == ' ') tracep->popPrefix();"
        changed "${changed}")
      file(WRITE "${DIR}/${PREFIX}.cpp" "${changed}")
      set(included "#include <sstream>\n")
    endif()
  endif()
  # Verilator's list of what it read names all files that it wrote; Ninja wants the first output alone, or
  # it takes the list for another's and verilates in every build.
  file(READ "${DIR}/${PREFIX}__ver.d" text)
  string(REGEX REPLACE "^[^:]*:" "${DIR}/${PREFIX}.h:" text "${text}")
  file(WRITE "${DIR}/${PREFIX}__ver.d" "${text}")
  list(REMOVE_ITEM parts "${PREFIX}__all.cpp" "${PREFIX}__slow.cpp")
  list(TRANSFORM parts PREPEND "#include \"")
  list(TRANSFORM parts APPEND "\"\n")
  if(SPLIT)
    set(slow "${parts}")
    list(FILTER slow INCLUDE REGEX "__(Slow|Syms)[.]cpp")
    list(FILTER parts EXCLUDE REGEX "__(Slow|Syms)[.]cpp")
    string(JOIN "" slow ${slow})
    file(WRITE "${DIR}/${PREFIX}__slow.cpp" "// Written by cmake/Verilate.cmake.\n${slow}")
  endif()
  string(JOIN "" text ${parts})
  file(WRITE "${DIR}/${PREFIX}__all.cpp" "// Written by cmake/Verilate.cmake.\n${included}${text}")
  return()
endif()

option(SMK_TRACE "Compile FST waveforms into the verilated RTL" ON)
option(SMK_COVERAGE "Compile coverage into the verilated RTL of configuration gtx980" OFF)

find_package(verilator REQUIRED HINTS ENV VERILATOR_ROOT /usr/share/verilator)

# Verilator's run time, once.
set(_smk_verilated_include "${VERILATOR_ROOT}/include")
add_library(smk_verilated STATIC
  "${_smk_verilated_include}/verilated.cpp"
  "${_smk_verilated_include}/verilated_dpi.cpp"
  "${_smk_verilated_include}/verilated_threads.cpp"
  "${CMAKE_CURRENT_LIST_DIR}/verilated_fst.cpp"
  $<$<BOOL:${SMK_COVERAGE}>:${_smk_verilated_include}/verilated_cov.cpp>)
# Not ours: the library shifts by as much as a word is wide, which UndefinedBehaviorSanitizer stops at.
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/verilated_fst.cpp" PROPERTIES
  COMPILE_OPTIONS "$<$<CONFIG:Debug>:-fno-sanitize=undefined>")
target_include_directories(smk_verilated SYSTEM PUBLIC
  "${_smk_verilated_include}" "${_smk_verilated_include}/vltstd")
target_compile_definitions(smk_verilated PUBLIC
  VM_COVERAGE=$<BOOL:${SMK_COVERAGE}> VM_SC=0 VM_TRACE=$<BOOL:${SMK_TRACE}>
  VM_TRACE_VCD=0 VM_TRACE_FST=$<BOOL:${SMK_TRACE}>)
target_link_libraries(smk_verilated PUBLIC ZLIB::ZLIB Threads::Threads)
# For shared objects, too. What is in here runs when waveforms are written and assertions fail.
set_target_properties(smk_verilated PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(smk_verilated PRIVATE $<$<CONFIG:Release>:-O1>)

# Seen by callers in other folders, too.
set(_smk_verilate_script "${CMAKE_CURRENT_LIST_FILE}" CACHE INTERNAL "")
# Newer ones report what they did, of every block.
set(_smk_verilator_quiet "" CACHE INTERNAL "")
if(verilator_VERSION VERSION_GREATER_EQUAL 5.032)
  set(_smk_verilator_quiet --quiet-stats CACHE INTERNAL "")
endif()

function(smk_verilate target module file)
  cmake_parse_arguments(PARSE_ARGV 3 arg "INNER;FAST" "CONFIG;PREFIX;RTL;SHELLS;TRACE_DEPTH" "DEPENDS;PARAMETERS")
  if(NOT arg_PREFIX)
    set(arg_PREFIX "${module}")
  endif()
  set(prefix "V${arg_PREFIX}")
  set(rtl "${PROJECT_SOURCE_DIR}/rtl")
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${prefix}")
  file(GLOB common CONFIGURE_DEPENDS "${rtl}/common/*.sv" "${rtl}/common/*.svh")
  file(GLOB folders LIST_DIRECTORIES true RELATIVE "${rtl}" CONFIGURE_DEPENDS "${rtl}/driver/*" "${rtl}/sm/*")
  if(arg_RTL)
    set(rtl "${arg_RTL}")
    set(common "")
  endif()
  file(GLOB checkers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tb/*/smk_*_checker.sv")
  if(NOT arg_CONFIG)
    set(arg_CONFIG gtx980)
  endif()
  get_filename_component(config "${arg_CONFIG}" ABSOLUTE BASE_DIR "${rtl}/config")
  get_filename_component(beside "${file}" DIRECTORY)
  set(shells "")
  set(places "")
  if(arg_SHELLS)
    file(GLOB shells RELATIVE "${arg_SHELLS}" CONFIGURE_DEPENDS "${arg_SHELLS}/smk_*.sv")
    list(TRANSFORM shells REPLACE "[.]sv$" "")
    set(places -DSIM_APART -y "${arg_SHELLS}")
  endif()
  # One of Verilator 5.006's optimizations gets some trees of bits wrong: seen on a netlist.
  set(flags --cc --assert -fno-const-bit-op-tree --top-module "${module}" --prefix "${prefix}" --Mdir "${dir}"
    ${places} "-I${rtl}/common" "-I${config}" -y "${rtl}/common" -y "${rtl}/top")
  foreach(folder IN LISTS folders)
    list(APPEND flags -y "${rtl}/${folder}")
  endforeach()
  list(APPEND flags "-I${beside}")
  foreach(parameter IN LISTS arg_PARAMETERS)
    list(APPEND flags "-G${parameter}")
  endforeach()
  if(arg_RTL)
    list(APPEND flags -Wno-WIDTH)
  elseif(SMK_TRACE)
    list(APPEND flags --trace-fst --trace-structs --no-trace-params)
    if(arg_TRACE_DEPTH)
      list(APPEND flags --trace-depth ${arg_TRACE_DEPTH})
    endif()
  endif()
  # Verilator 5.006 loses the variable of a loop that copies a register of more than 40 words.
  if(NOT arg_CONFIG MATCHES "^(gtx980|small)$")
    list(APPEND flags -fno-reloop)
  endif()
  # Every point exists in the default configuration; the others would cost their time again.
  if(SMK_COVERAGE AND arg_CONFIG STREQUAL "gtx980")
    # Toggles of wide vectors, too (by default of 256 bits at most), but not of memories.
    list(APPEND flags --coverage --coverage-max-width 2048)
  endif()
  # The folder is emptied first: Verilator leaves the parts of earlier runs behind.
  add_custom_command(OUTPUT "${dir}/${prefix}.h" "${dir}/${prefix}__all.cpp" "${dir}/${prefix}__slow.cpp"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${dir}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${dir}"
    COMMAND "${CMAKE_COMMAND}" "-DCHECKERS=${checkers}" "-DFILE=${file}" "-DRTL=${rtl}" "-DSHELLS=${shells}"
      "-DOUT=${dir}/checkers.f" -P "${_smk_verilate_script}"
    COMMAND "${VERILATOR_BIN}" ${_smk_verilator_quiet} ${flags} "${rtl}/lint.vlt" "${rtl}/common/smk_pkg.sv" "${file}"
      -f "${dir}/checkers.f"
    COMMAND "${CMAKE_COMMAND}" "-DDIR=${dir}" "-DPREFIX=${prefix}" "-DMODULE=${module}"
      "-DINNER=${arg_INNER}" -DSPLIT=ON "-DSOURCE=${PROJECT_SOURCE_DIR}" -P "${_smk_verilate_script}"
    DEPENDS "${file}" "${config}/smk_config.svh" ${common} ${arg_DEPENDS} "${rtl}/lint.vlt" "${_smk_verilate_script}"
    DEPFILE "${dir}/${prefix}__ver.d"
    COMMENT "Verilating ${arg_PREFIX}"
    VERBATIM)
  add_library(${target} STATIC "${dir}/${prefix}__all.cpp" "${dir}/${prefix}__slow.cpp" "${dir}/${prefix}.h")
  # A third of the compiler's time went into what runs once.
  set_source_files_properties("${dir}/${prefix}__slow.cpp" PROPERTIES COMPILE_OPTIONS "-O0")
  target_include_directories(${target} SYSTEM PUBLIC "${dir}")
  target_link_libraries(${target} PUBLIC smk_verilated)
  # Generated code is large: it is optimized fully only where it runs in every cycle, and else as far as takes the
  # compiler half as long.
  # Counters make it several times as large. Nor is it ours: the sanitizers, with which the compiler takes
  # many times as long, are for what drives it and compares with it.
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -fno-sanitize=all -g0 $<$<NOT:$<BOOL:${arg_FAST}>>:-O0>)
  elseif(SMK_COVERAGE OR NOT arg_FAST)
    target_compile_options(${target} PRIVATE -Og -g0)
  endif()
endfunction()

function(smk_verilate_driver name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONFIG;RTL;TRACE_DEPTH" "DEPENDS")
  set(options INNER CONFIG ${arg_CONFIG})
  if(arg_TRACE_DEPTH)
    list(APPEND options TRACE_DEPTH ${arg_TRACE_DEPTH})
  endif()
  if(arg_RTL)
    list(APPEND options RTL "${arg_RTL}" DEPENDS ${arg_DEPENDS})
  endif()
  set(cosim "${PROJECT_SOURCE_DIR}/sim/cosim")
  smk_verilate(smk_${name}_driver sim_driver "${cosim}/sim_driver.sv" PREFIX ${name}_driver
    SHELLS "${cosim}/apart" ${options})
  foreach(part IN ITEMS arbiter/token_arbiter planner/partition_planner profiler/slicer_profiler usage/sm_usage)
    get_filename_component(block "${part}" NAME)
    get_filename_component(part "${part}" DIRECTORY)
    smk_verilate(smk_${name}_${part} sim_${block} "${cosim}/apart/sim_${block}.sv" PREFIX ${name}_${part} ${options})
  endforeach()
  add_library(smk_${name}_whole_driver INTERFACE)
  target_link_libraries(smk_${name}_whole_driver INTERFACE smk_${name}_driver
    smk_${name}_arbiter smk_${name}_planner smk_${name}_profiler smk_${name}_usage)
endfunction()

function(smk_verilate_control_plane name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FAST" "CONFIG;RTL;TRACE_DEPTH" "DEPENDS")
  set(rtl "${PROJECT_SOURCE_DIR}/rtl")
  set(options INNER CONFIG ${arg_CONFIG})
  if(arg_TRACE_DEPTH)
    list(APPEND options TRACE_DEPTH ${arg_TRACE_DEPTH})
  endif()
  if(arg_RTL)
    set(rtl "${arg_RTL}")
    list(APPEND options RTL "${arg_RTL}" DEPENDS ${arg_DEPENDS})
  endif()
  set(fast ${options})
  if(arg_FAST)
    list(APPEND fast FAST)
  endif()
  set(whole ${options})
  list(REMOVE_ITEM whole INNER)
  smk_verilate_driver(${name} ${whole})
  smk_verilate(smk_${name}_tables smk_sm_tables "${rtl}/sm/sm_control/smk_sm_tables.sv"
    PREFIX ${name}_tables ${fast})
  smk_verilate(smk_${name}_scheduler sim_quota_scheduler "${PROJECT_SOURCE_DIR}/sim/cosim/sim_quota_scheduler.sv"
    PREFIX ${name}_scheduler ${fast})
  smk_verilate(smk_${name}_profile smk_sm_profile "${rtl}/sm/sm_control/smk_sm_profile.sv"
    PREFIX ${name}_profile ${fast})
  smk_verilate(smk_${name}_sample smk_sm_sample "${rtl}/sm/sm_control/smk_sm_sample.sv"
    PREFIX ${name}_sample ${fast})
  add_library(smk_${name} INTERFACE)
  target_link_libraries(smk_${name} INTERFACE
    smk_${name}_whole_driver smk_${name}_tables smk_${name}_scheduler smk_${name}_profile smk_${name}_sample)
endfunction()
