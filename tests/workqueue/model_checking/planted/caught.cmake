# Runs a test program, which must fail because of the bug that KOPP_PLANTED_BUG names: at least one
# test must fail. A crash or a timeout does not count.
#   cmake -DPROGRAM=<file> -DFLAGS=<list> -P caught.cmake
execute_process(COMMAND ${PROGRAM} ${FLAGS} TIMEOUT 500
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(SUBSTRING "${output}" 0 4000 beginning)
message("${beginning}")
if(NOT result EQUAL 1 OR NOT output MATCHES "\\[  FAILED  \\] [A-Z]")
  message(FATAL_ERROR "no test caught the bug $ENV{KOPP_PLANTED_BUG}; the program ended with: ${result}")
endif()
