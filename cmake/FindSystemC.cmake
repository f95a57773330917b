# SPDX-License-Identifier: Apache-2.0
#
# Finds SystemC (Debian's libsystemc-dev has no CMake package) and defines SystemC::SystemC.
# Debian's library is built as C++17 and refuses to link with any other standard.
find_path(SystemC_INCLUDE_DIR NAMES systemc HINTS ENV SYSTEMC_HOME PATH_SUFFIXES include)
find_library(SystemC_LIBRARY NAMES systemc HINTS ENV SYSTEMC_HOME PATH_SUFFIXES lib lib-linux64)

if(SystemC_INCLUDE_DIR AND EXISTS "${SystemC_INCLUDE_DIR}/sysc/kernel/sc_ver.h")
  file(STRINGS "${SystemC_INCLUDE_DIR}/sysc/kernel/sc_ver.h" _systemc_version
    REGEX "#define[ \t]+SC_VERSION_(MAJOR|MINOR|PATCH)[ \t]+[0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" _systemc_version "${_systemc_version}")
  string(REPLACE ";" "." SystemC_VERSION "${_systemc_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC
  REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR
  VERSION_VAR SystemC_VERSION
  REASON_FAILURE_MESSAGE "Install libsystemc-dev, or set SYSTEMC_HOME.")
mark_as_advanced(SystemC_INCLUDE_DIR SystemC_LIBRARY)

if(SystemC_FOUND AND NOT TARGET SystemC::SystemC)
  # The shared library calls sc_main, which a program with its own main does not have. The stub is a
  # dependency of the library so that it always comes after it on the link line.
  add_library(smk_sc_main STATIC "${CMAKE_CURRENT_LIST_DIR}/sc_main.cc")
  add_library(SystemC::SystemC UNKNOWN IMPORTED)
  set_target_properties(SystemC::SystemC PROPERTIES
    IMPORTED_LOCATION "${SystemC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${SystemC_INCLUDE_DIR}"
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_LIBRARIES smk_sc_main)
endif()
