cmake_minimum_required(VERSION 3.25)
# Checks that programs neither contain nor load a library. NAME is a regular expression for the name of the shared
# library and for names of its symbols. The program CONTROL must contain or load it.
#   cmake -DNAME=<expression> "-DPROGRAMS=<program>;<program>" -DCONTROL=<program> -P linked_libraries.cmake
function(has_library program result)
  file(STRINGS ${program} contained REGEX "${NAME}" LIMIT_COUNT 1)
  execute_process(COMMAND ldd ${program} OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
  if(contained OR loaded MATCHES "${NAME}")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

foreach(program IN LISTS PROGRAMS)
  has_library(${program} linked)
  if(linked)
    message(FATAL_ERROR "${program} contains or loads ${NAME}: leave the library out of its link")
  endif()
endforeach()
has_library(${CONTROL} linked)
if(NOT linked)
  message(FATAL_ERROR "${CONTROL} neither contains nor loads ${NAME}: this test would find no program that does")
endif()
