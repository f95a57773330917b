# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSOURCE=dir -DOUT=dir -DNPM=program -P install.cmake: installs the packages that the lock
# file names into OUT. A failure is one line and no end of the build; npm's words are in OUT/npm.log.
file(MAKE_DIRECTORY "${OUT}")
foreach(name IN ITEMS package.json package-lock.json .npmrc)
  configure_file("${SOURCE}/${name}" "${OUT}/${name}" COPYONLY)
endforeach()
execute_process(
  COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
  WORKING_DIRECTORY "${OUT}"
  OUTPUT_FILE "${OUT}/npm.log" ERROR_FILE "${OUT}/npm.log" RESULT_VARIABLE status)
file(REMOVE "${OUT}/installed")
if(status EQUAL 0)
  file(TOUCH "${OUT}/installed")
else()
  message(NOTICE "report: npm ci failed, so smk report has no page; see ${OUT}/npm.log")
endif()
