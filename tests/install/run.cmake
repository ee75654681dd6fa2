# Installs kopp into an empty folder, builds the project beside this file against it, and runs it.
#   cmake -DBUILD=<kopp's build folder> -DSOURCE=<this folder> -DWORK=<scratch> -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/installed
  -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/queue)
if(NOT output STREQUAL "default/web\n")
  message(FATAL_ERROR "the queue's program printed: ${output}")
endif()
run(${WORK}/build/operator --help)
run(${WORK}/build/operator_test)
run(${WORK}/build/reconciler_test)
run(${WORK}/installed/bin/sample-controller --version)

# The demo finds what the installed sample controller is shown with. It goes on until it is ended, or
# nobody reads on.
run(timeout --signal=INT 60 ${WORK}/installed/bin/kopp-apiserver --demo --
  ${WORK}/installed/bin/sample-controller
  COMMAND sed "/create  deployments example-foo/q")
if(NOT output MATCHES "create  deployments example-foo")
  message(FATAL_ERROR "the demo told:\n${output}")
endif()

# The workqueue is found where none of the other packages are.
file(WRITE ${WORK}/alone/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(alone LANGUAGES CXX)
foreach(package nlohmann_json simdjson OpenSSL cpprestsdk prometheus-cpp yaml-cpp)
  set(CMAKE_DISABLE_FIND_PACKAGE_\${package} TRUE)
endforeach()
find_package(kopp REQUIRED COMPONENTS workqueue)
add_executable(queue ${SOURCE}/queue.cpp)
target_link_libraries(queue PRIVATE kopp::workqueue)
")
run(${CMAKE_COMMAND} -S ${WORK}/alone -B ${WORK}/alone/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/alone/build)
