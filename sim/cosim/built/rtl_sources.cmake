# SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=source-folder -DOUT=rtl_sources.h -P rtl_sources.cmake: a hash of all that is compiled both into the
# program and into the shared objects of its RTL. Whoever includes this has the list, RTL_SOURCES.
set(RTL_SOURCES
  "rtl/*.sv" "rtl/*.svh" "rtl/*.vlt" "sim/cosim/*.h" "sim/cosim/*.cc" "sim/cosim/*.sv"
  "model/base/*.h" "model/control/*.h" "synth/lanes/*.py" "synth/lanes/*.tcl" "cmake/Verilate.cmake")
if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()
list(TRANSFORM RTL_SOURCES PREPEND "${ROOT}/")
file(GLOB_RECURSE files RELATIVE "${ROOT}" ${RTL_SOURCES})
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 "${ROOT}/${file}" hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
file(WRITE "${OUT}" "// Written by rtl_sources.cmake.\n#pragma once\n\nnamespace smk {\nconstexpr char kRtlSources[] = \"${hash}\";\n}\n")
