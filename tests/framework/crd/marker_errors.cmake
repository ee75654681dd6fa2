# Compiles marker_errors.cpp with each mistake, and checks the first line of the compiler's output
# with an error.
#   cmake -DCOMPILER=… -DFLAGS=… -DSOURCE=marker_errors.cpp -P marker_errors.cmake
set(mistakes
  "1:Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum and MultipleOf apply to numbers"
  "2:MinLength, MaxLength and Pattern apply to strings"
  "3:MinItems, MaxItems, ListType and ListMapKeys apply to lists"
  "4:the API server refuses uniqueItems: use ListType"
  "5:Default: the value does not have the type of the member"
  "6:Enum: the values do not have the type of the member"
  "7:ListMapKeys applies to lists of structs"
  "8:Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum and MultipleOf apply to numbers"
  "9:IntOrString: this member cannot hold an integer and a string"
  "10:Items applies to lists and maps"
  "11:MinProperties, MaxProperties, MapType and StructType apply to maps and structs"
  "12:ErrorTheMinimumIsGreaterThanTheMaximum"
  "13:StatusSubresource: the struct has no member"
  "14:KOPP_CRD takes markers of kinds"
  "15:KOPP_CRD: the struct has no kKind"
  "16:ErrorTheTypeOfAPrintColumnMustBeIntegerNumberStringBooleanOrDate"
  "17:ErrorAPathMustStartWithADot")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")

function(compile mistake result output)
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${flags} -DMISTAKE=${mistake} ${SOURCE}
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} ${code} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

compile(0 code output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "does not compile without a mistake:\n${output}")
endif()
set(problems "")
foreach(mistake IN LISTS mistakes)
  string(REGEX MATCH "^([0-9]+):(.*)$" ignored "${mistake}")
  set(number ${CMAKE_MATCH_1})
  set(expected "${CMAKE_MATCH_2}")
  compile(${number} code output)
  # A constant expression that fails is reported as such first; the line after it names the rule.
  string(REGEX MATCH "error: [^\n]*" first "${output}")
  if(expected MATCHES "^Error")
    string(REGEX MATCH "[^\n]*Error[A-Z][A-Za-z]+[^\n]*" first "${output}")
  endif()
  string(FIND "${first}" "${expected}" found)
  if(code EQUAL 0)
    string(APPEND problems "  mistake ${number} compiles\n")
  elseif(found EQUAL -1)
    string(APPEND problems "  mistake ${number}: expected \"${expected}\", found \"${first}\"\n")
  endif()
endforeach()
if(problems)
  message(FATAL_ERROR "the errors of markers:\n${problems}")
endif()
