# SPDX-License-Identifier: Apache-2.0
#
# The program finds its files in share/smk beside its own folder (sim/base/shared_folder.h).

# share/smk in the build folder is links; the program there finds its files by the same rule.
set(shared "${PROJECT_BINARY_DIR}/share/smk")
file(MAKE_DIRECTORY "${shared}")
foreach(folder IN ITEMS sim rtl synth tb)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${shared}/${folder}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${SMK_REPORT_PAGE}" "${shared}/page.html" SYMBOLIC)
