# Compiles a source with the include folders of a module: DOWNWARD, a header of the module itself or of one below it, is
# found; UPWARD, a header of a module above it, is not.
#   cmake -DCOMPILER=g++ -DFOLDERS="a;b" -DUPWARD=kopp/manager.hpp -DDOWNWARD=kopp/client.hpp -DWORK=<folder> -P upward_include.cmake
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM FOLDERS PREPEND -I OUTPUT_VARIABLE flags)

function(compile header result output)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(WRITE ${WORK}/${name}.cpp "#include \"${header}\"\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 ${COMPILER} -std=c++20 -fsyntax-only ${flags} ${WORK}/${name}.cpp
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} ${code} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

compile(${DOWNWARD} result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${DOWNWARD} does not compile:\n${output}")
endif()
compile(${UPWARD} result output)
if(result EQUAL 0 OR NOT output MATCHES "${UPWARD}(: No such file|' file not found)")
  message(FATAL_ERROR "${UPWARD} is found from below:\n${output}")
endif()
