# Checks the first error that the compiler reports for SOURCE: it ends with the text after "error: "
# in the comment at the start of SOURCE. With the comment "the only error" at the end of SOURCE, there must be no other.
#   cmake -DSOURCE=mistake.cpp -DCOMPILER=g++ -DROOT=<kopp> -P first_error.cmake
cmake_minimum_required(VERSION 3.25)
file(READ ${SOURCE} text)
string(REGEX MATCH "^// error: (([^\n]|\n// )*)" comment "${text}")
string(REPLACE "\n// " " " expected "${CMAKE_MATCH_1}")
if(COMPILER MATCHES "clang" AND text MATCHES "\n// clang: error: (([^\n]|\n// )*)")
  string(REPLACE "\n// " " " expected "${CMAKE_MATCH_1}")
endif()

file(GLOB folders ${ROOT}/workqueue/include ${ROOT}/informer/include ${ROOT}/informer/k8s/include ${ROOT}/framework/*/include)
list(TRANSFORM folders PREPEND -I)
# clang inserts the condition: "static assertion failed due to requirement '…': ".
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 ${COMPILER} -std=c++20 -fsyntax-only
    ${folders} ${SOURCE}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles")
endif()
string(REGEX MATCH "[^\n]*error: [^\n]*" first "${output}")
string(LENGTH "${first}" end)
string(LENGTH "${expected}" length)
math(EXPR start "${end} - ${length}")
if(start GREATER_EQUAL 0)
  string(SUBSTRING "${first}" ${start} -1 last)
endif()
if(expected STREQUAL "" OR start LESS 0 OR NOT last STREQUAL expected)
  message(FATAL_ERROR "The first error of ${SOURCE} is\n  ${first}\nexpected: ${expected}\n${output}")
endif()
string(REGEX MATCHALL "error: " errors "${output}")
list(LENGTH errors count)
if(text MATCHES "// the only error\n$" AND NOT count EQUAL 1)
  message(FATAL_ERROR "${SOURCE} has ${count} errors instead of one:\n${output}")
endif()
