cmake_minimum_required(VERSION 3.25)
# Checks that objects use the list of containers of a Pod, but do not define its functions.
#   cmake -DNM=<nm> "-DOBJECTS=<object>;<object>" -P compiled_once.cmake
set(list "kopp::k8s::ListValues<kopp::k8s::core::v1::Container>::")
execute_process(COMMAND ${NM} --demangle ${OBJECTS} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES " U ${list}")
  message(FATAL_ERROR "no object uses ${list}: this test would find no function")
endif()
if(symbols MATCHES " [TtWw] ${list}")
  message(FATAL_ERROR "an object defines functions of ${list}: declare `extern template class` in the header")
endif()
