# Builds and runs the folder project, which contains kopp, with its own copies of nlohmann_json and GoogleTest. The copy of nlohmann_json says
# that it is another version, so its names differ from those of the installed one: libraries compiled with both do not link.
#   cmake -DSOURCE=<kopp> -DGOOGLETEST=<sources of GoogleTest> -DNLOHMANN_JSON=<its include folders> -DWORK=<scratch>
#     -DFLAGS=<compiler flags> -DSHARED=<BUILD_SHARED_LIBS> -P fetch_content.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
list(POP_FRONT NLOHMANN_JSON include)
file(COPY ${include}/nlohmann DESTINATION ${WORK}/own_json)
set(version "define NLOHMANN_JSON_VERSION_PATCH ")
file(GLOB_RECURSE headers ${WORK}/own_json/*.hpp)
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX REPLACE "${version}[0-9]+" "${version}99" text "${text}")
  file(WRITE ${header} "${text}")
endforeach()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/build -G Ninja -DKOPP=${SOURCE} -DGOOGLETEST=${GOOGLETEST}
  -DNLOHMANN_JSON=${WORK}/own_json -DBUILD_SHARED_LIBS=${SHARED} -DINSTALL_GTEST=OFF
  "-DCMAKE_CXX_FLAGS=${FLAGS} -ffile-prefix-map=${SOURCE}/=") # for ccache in another clone
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure)
if(NOT output MATCHES "100% tests passed, 0 tests failed out of 1\n")
  message(SEND_ERROR "expected one test, which passes:\n${output}")
endif()
run(${WORK}/build/greeter --help)

# No source has included the installed headers of nlohmann_json or GoogleTest.
run(ninja -C ${WORK}/build -t deps)
foreach(header nlohmann/json.hpp gtest/gtest.h)
  string(REGEX MATCHALL "[^\n ]*/${header}" included "${output}")
  list(REMOVE_DUPLICATES included)
  list(LENGTH included count)
  if(NOT count EQUAL 1)
    message(SEND_ERROR "expected one ${header} in all sources, but they include: ${included}")
  endif()
endforeach()

run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/installed)
file(GLOB_RECURSE installed RELATIVE ${WORK}/installed ${WORK}/installed/*)
if(NOT installed STREQUAL "bin/greeter")
  message(SEND_ERROR "the project installs only bin/greeter, but these files were installed: ${installed}")
endif()
