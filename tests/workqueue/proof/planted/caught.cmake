# Runs a program of the proof that was compiled with a planted bug: one of its tests has to fail. A
# crash, or a program that does not come to an end, is no answer.
#   cmake -DPROGRAM=<file> -DFLAGS=<list> -P caught.cmake
execute_process(COMMAND ${PROGRAM} ${FLAGS} TIMEOUT 60
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(SUBSTRING "${output}" 0 4000 beginning)
message("${beginning}")
if(NOT result EQUAL 1 OR NOT output MATCHES "\\[  FAILED  \\] [A-Z]")
  message(FATAL_ERROR "no test caught the bug; the program ended with: ${result}")
endif()
