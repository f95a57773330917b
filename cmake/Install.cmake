# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` and `cpack` take along: the program with its files (component smk), and the model as a library with
# a CMake package (component libsmk-dev). An installation can be moved: the program finds share/smk beside
# its own folder (sim/base/shared_folder.h), and nothing installed has a path of this tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/smk")

# share/smk in the build folder is links; the program there finds its files by the same rule.
set(shared "${PROJECT_BINARY_DIR}/share/smk")
file(MAKE_DIRECTORY "${shared}")
foreach(folder IN ITEMS sim rtl model synth tb)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${shared}/${folder}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${SMK_REPORT_PAGE}" "${shared}/page.html" SYMBOLIC)

# What shells and man read, as smk writes it.
set(descriptions "${PROJECT_BINARY_DIR}/generated/descriptions")
set(man "${descriptions}/smk.1")
set(bash "${descriptions}/smk")
set(zsh "${descriptions}/_smk")
set(fish "${descriptions}/smk.fish")
set(commands "")
foreach(format IN ITEMS man bash zsh fish)
  list(APPEND commands COMMAND smk help --as ${format} > "${${format}}")
endforeach()
add_custom_command(OUTPUT "${man}" "${bash}" "${zsh}" "${fish}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${descriptions}" ${commands}
  DEPENDS smk COMMENT "Describing the options of smk" VERBATIM)
add_custom_target(smk_descriptions ALL DEPENDS "${man}" "${bash}" "${zsh}" "${fish}")

# The model in one archive, for others' programs: in here its rooms are linked one by one.
get_property(rooms GLOBAL PROPERTY SMK_MODEL_ROOMS)
add_library(smk_model STATIC)
set_target_properties(smk_model PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME model)
foreach(room IN LISTS rooms)
  target_sources(smk_model PRIVATE $<TARGET_OBJECTS:smk_${room}>)
endforeach()
target_compile_features(smk_model INTERFACE cxx_std_17)
target_link_libraries(smk_model INTERFACE SystemC::SystemC tomlplusplus::tomlplusplus LibLZMA::LibLZMA)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME smk)
install(TARGETS smk RUNTIME DESTINATION bin)
# Beside the program, where it looks for them; one that was not built is not installed.
install(TARGETS ${SMK_RTL_OBJECTS} LIBRARY DESTINATION lib/smk OPTIONAL)
install(DIRECTORY sim/machines sim/workloads sim/sweeps sim/streams DESTINATION share/smk/sim FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY rtl synth tb DESTINATION share/smk FILES_MATCHING
  REGEX "/rtl/.*\\.(svh?|vlt)$" REGEX "/synth/.*\\.(tcl|toml|json|lib|v)$" REGEX "/(wave|block)\\.toml$"
  REGEX "/synth/lanes/.*\\.py$" REGEX "/synth/(layout|power)$" EXCLUDE)
# What smk rtl build compiles beside the RTL.
install(DIRECTORY sim/cosim DESTINATION share/smk/sim FILES_MATCHING
  REGEX "/cosim/.*\\.(h|svh?|sh)$" REGEX "/cosim/built/built_(rtl|lanes|chip)\\.cc$")
install(DIRECTORY model/base model/control DESTINATION share/smk/model FILES_MATCHING PATTERN "*.h")
install(FILES "${SMK_REPORT_PAGE}" DESTINATION share/smk OPTIONAL)
install(FILES "${man}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${bash}" DESTINATION share/bash-completion/completions)
install(FILES "${zsh}" DESTINATION share/zsh/site-functions)
install(FILES "${fish}" DESTINATION share/fish/vendor_completions.d)
# Where Debian's python3 looks below /usr; the module finds the program beside it.
install(DIRECTORY python/smk DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py")
install(FILES README.md LICENSE CHANGELOG.md DESTINATION share/doc/smk)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libsmk-dev)
foreach(room IN LISTS rooms)
  install(DIRECTORY model/${room} DESTINATION include/smk FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS smk_model EXPORT smk ARCHIVE INCLUDES DESTINATION include/smk)
install(EXPORT smk NAMESPACE smk:: FILE smkTargets.cmake DESTINATION "${package}")
configure_package_config_file(cmake/smkConfig.cmake.in "${PROJECT_BINARY_DIR}/generated/smkConfig.cmake"
  INSTALL_DESTINATION "${package}" PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/smkConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/smkConfig.cmake"
  "${PROJECT_BINARY_DIR}/generated/smkConfigVersion.cmake" cmake/FindSystemC.cmake cmake/sc_main.cc
  DESTINATION "${package}")
install(DIRECTORY examples/pair DESTINATION share/doc/smk/examples)

# Without debug information, which has the paths of this tree.
function(smk_install_stripped component path)
  install(CODE "set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${path}\")
    if(EXISTS \"\${file}\")
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-debug \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT ${component})
endfunction()
smk_install_stripped(smk bin/smk)
foreach(object IN LISTS SMK_RTL_OBJECTS)
  smk_install_stripped(smk lib/smk/${object}.so)
endforeach()
smk_install_stripped(libsmk-dev "${CMAKE_INSTALL_LIBDIR}/libsmk_model.a")
unset(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME)

# cpack: a Debian package of each component. What the program needs is asked of the program; what the library needs is what
# it includes and links.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smk)
# Who hands a package on names himself: cpack -D CPACK_PACKAGE_CONTACT="Name <address>".
set(CPACK_PACKAGE_CONTACT "SMK maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Simulator of GPUs that kernels share")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_COMPONENTS_ALL smk libsmk-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_SMK_PACKAGE_NAME smk)
set(CPACK_DEBIAN_SMK_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SMK_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_SMK_PACKAGE_SUGGESTS "gtkwave, yosys, opensta")
set(CPACK_COMPONENT_SMK_DESCRIPTION "GPU kernels that share SMs, under several policies: run, compare, sweep, report.")
set(CPACK_DEBIAN_LIBSMK-DEV_PACKAGE_NAME libsmk-dev)
set(CPACK_DEBIAN_LIBSMK-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBSMK-DEV_PACKAGE_DEPENDS "smk (= ${PROJECT_VERSION}), libsystemc-dev, libtomlplusplus-dev, liblzma-dev")
set(CPACK_COMPONENT_LIBSMK-DEV_DESCRIPTION "The model of smk as a C++ library, with a CMake package.")
include(CPack)
