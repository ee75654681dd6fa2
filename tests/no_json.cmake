cmake_minimum_required(VERSION 3.25)
# Checks that the sample controller, the examples and the project of `kopp init` build objects from
# structs: their sources contain no JSON text and use no JSON library. Prints each offending line.
#   cmake -DSOURCE=<kopp> -P no_json.cmake
set(templates ${SOURCE}/framework/command/templates/project)
file(GLOB_RECURSE files ${SOURCE}/controllers/*.[ch]pp ${SOURCE}/examples/*.[ch]pp
  ${templates}/*.[ch]pp.in)
set(problems "")
set(count 0)
foreach(file IN LISTS files)
  math(EXPR count "${count} + 1")
  # An include of nlohmann, its type, RawJson, JSON in a raw string, or an object or a key in a string.
  file(STRINGS ${file} lines
    REGEX "nlohmann|kopp/json[.]hpp|json::|RawJson|R\"[a-z]*[(][ ]*[{[]|\"[{[]|[{,]\\\\\"|\\\\\":")
  foreach(line IN LISTS lines)
    string(APPEND problems "  ${file}: ${line}\n")
  endforeach()
endforeach()
if(count LESS 15)
  message(FATAL_ERROR "found only ${count} sources")
endif()
if(problems)
  message(FATAL_ERROR "sources with JSON; use structs of kopp::k8s or of <kopp/kinds.hpp>:\n${problems}")
endif()
message("${count} sources contain no JSON")
