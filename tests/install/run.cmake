# Builds the folder project against the kopp in WORK/installed, and runs its programs.
# install.cmake, run before, has emptied WORK and installed kopp there.
#   cmake -DSOURCE=<the folder project> -DWORK=<scratch> -DFLAGS=<compiler flags> -DCPPREST=<whether kopp::cpprest is installed>
#     -DCOMPILER=<C++ compiler> -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/installed
  -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
function(run_queue program)
  run(${program})
  if(NOT output STREQUAL "default/web\n")
    message(FATAL_ERROR "expected ${program} to print \"default/web\", but it printed: ${output}")
  endif()
endfunction()
run_queue(${WORK}/build/queue)
run(${WORK}/build/operator --help)
run(${WORK}/build/operator_test)
run(${WORK}/build/reconciler_test)
run(${WORK}/installed/bin/sample-controller --version)

# The demo finds the installed manifests of the sample controller. It runs until it is stopped or
# until its stdout is closed.
run(timeout --signal=INT 60 ${WORK}/installed/bin/kopp-apiserver --demo --
  ${WORK}/installed/bin/sample-controller
  COMMAND sed "/create  deployments example-foo/q")
if(NOT output MATCHES "create  deployments example-foo")
  message(FATAL_ERROR "the demo did not print \"create  deployments example-foo\". Its output:\n${output}")
endif()

# The component workqueue is found even if the packages of the other components are not installed.
file(WRITE ${WORK}/workqueue_only/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(workqueue_only LANGUAGES CXX)
foreach(package nlohmann_json simdjson OpenSSL cpprestsdk prometheus-cpp yaml-cpp re2)
  set(CMAKE_DISABLE_FIND_PACKAGE_\${package} TRUE)
endforeach()
find_package(kopp REQUIRED COMPONENTS workqueue)
add_executable(queue ${SOURCE}/queue.cpp)
target_link_libraries(queue PRIVATE kopp::workqueue)
")
run(${CMAKE_COMMAND} -S ${WORK}/workqueue_only -B ${WORK}/workqueue_only/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/workqueue_only/build)

# The libraries, static or shared, can be linked into a shared library.
file(WRITE ${WORK}/plugin/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(plugin LANGUAGES CXX)
find_package(kopp REQUIRED COMPONENTS framework)
add_library(plugin SHARED ${SOURCE}/operator.cpp)
target_link_libraries(plugin PRIVATE kopp::framework)
target_link_options(plugin PRIVATE LINKER:--no-undefined)
")
if(CPPREST)
  file(APPEND ${WORK}/plugin/CMakeLists.txt "find_package(kopp REQUIRED COMPONENTS cpprest)
add_executable(with_cpprest $<TARGET_OBJECTS:plugin>)
target_link_libraries(with_cpprest PRIVATE kopp::framework kopp::cpprest)
target_link_options(with_cpprest PRIVATE LINKER:--as-needed)
")
endif()
run(${CMAKE_COMMAND} -S ${WORK}/plugin -B ${WORK}/plugin/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/plugin/build)

# No source refers to kopp::cpprest, but the linker keeps it, also with --as-needed, which is the default on Ubuntu.
if(CPPREST)
  run(ldd ${WORK}/plugin/build/with_cpprest)
  if(NOT output MATCHES "libcpprest")
    message(FATAL_ERROR "a program that links kopp::cpprest does not load cpprestsdk:\n${output}")
  endif()
endif()

# A build without CMake gets the flags from pkg-config.
file(GLOB_RECURSE packages ${WORK}/installed/*.pc)
list(GET packages 0 package)
cmake_path(GET package PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
function(get_flags)
  run(pkg-config ${ARGV})
  separate_arguments(output UNIX_COMMAND "${output} ${FLAGS}")
  set(flags ${output} PARENT_SCOPE)
endfunction()
get_flags(--cflags --libs kopp-workqueue)
run(${COMPILER} -std=c++20 ${SOURCE}/queue.cpp ${flags} -o ${WORK}/queue)
run_queue(${WORK}/queue)
function(link_object name package)
  get_flags(--libs ${package})
  run(${COMPILER} ${WORK}/build/CMakeFiles/${name}.dir/${name}.cpp.o ${flags} ${ARGN} -Wl,-rpath,${folder}/.. -o ${WORK}/${name})
endfunction()
link_object(operator kopp)
run(${WORK}/operator --help)
link_object(reconciler_test kopp-apiserver -lgmock_main -lgmock -lgtest)
run(${WORK}/reconciler_test)
foreach(package IN LISTS packages)
  cmake_path(GET package STEM name)
  run(pkg-config --cflags --libs ${name})
endforeach()
