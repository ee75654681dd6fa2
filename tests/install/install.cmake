# Empties the folder WORK and installs kopp into WORK/installed.
#   cmake -DBUILD=<kopp's build folder> -DWORK=<folder> -P install.cmake
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
