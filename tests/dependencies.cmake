# Checks what cmake does if libraries are missing: cmake/KoppDependencies.cmake, and find_package(kopp).
#   cmake -DSOURCE=<kopp> -DINSTALLED=<folder of an installed kopp> -DWORK=<scratch> -P dependencies.cmake
cmake_minimum_required(VERSION 3.25)

# Configures SOURCE without the packages of CMake that are listed after DISABLED, with the further arguments of cmake. Fails unless
# this leads to one error with a row for each package in MISSING and no other, or succeeds if MISSING is empty. Sets output.
function(configure name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DISABLED;MISSING;ARGUMENTS")
  list(TRANSFORM arg_DISABLED REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=ON")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${name} -G Ninja -DKOPP_BUILD_EXAMPLES=OFF ${arg_DISABLED}
    ${arg_ARGUMENTS} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX MATCHALL "CMake Error" errors "${output}")
  string(REGEX MATCHALL "\n    [A-Za-z0-9_-]+  +[0-9.-]+ +[0-9.-]+  [^\n]*" rows "${output}")
  list(TRANSFORM rows REPLACE "\n    ([A-Za-z0-9_-]+) .*" "\\1" OUTPUT_VARIABLE missing)
  set(expected_errors "")
  if(arg_MISSING)
    set(expected_errors "CMake Error")
  endif()
  if(NOT "${missing}" STREQUAL "${arg_MISSING}" OR NOT "${errors}" STREQUAL "${expected_errors}" OR
      (NOT result EQUAL 0 AND NOT arg_MISSING))
    message(SEND_ERROR "${name}: expected one message with rows for \"${arg_MISSING}\", but there are rows for \"${missing}\", and "
      "${CMAKE_COMMAND} ended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Fails unless the output of the last configure matches `pattern`.
function(expect pattern)
  if(NOT output MATCHES "${pattern}")
    message(SEND_ERROR "expected a match of ${pattern} in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
configure(several DISABLED simdjson Boost rapidcheck re2 MISSING Boost re2 simdjson rapidcheck
  ARGUMENTS -DKOPP_BUILD_TESTS=ON -DKOPP_WITH_CPPREST=OFF)
expect("\n    Library     At least  Found  Debian, Ubuntu     Fedora          Alpine          Homebrew\n")
expect("\n    Boost       1[.]74      -      libboost-dev       boost-devel     boost-dev       boost\n")
expect("\n    re2         -         -      libre2-dev         re2-devel       re2-dev         re2\n")
expect("-DKOPP_BUILD_TESTS=OFF[ \n]")

configure(cpprestsdk DISABLED cpprestsdk OpenSSL MISSING OpenSSL cpprestsdk ARGUMENTS -DKOPP_BUILD_TESTS=OFF)
expect("-DKOPP_WITH_CPPREST=OFF[ \n]")

# A release of Boost that is too old.
file(WRITE ${WORK}/boost/BoostConfig.cmake "add_library(Boost::headers INTERFACE IMPORTED)\n")
file(WRITE ${WORK}/boost/BoostConfigVersion.cmake "set(PACKAGE_VERSION 1.73.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
configure(old MISSING Boost ARGUMENTS -DBoost_DIR=${WORK}/boost -DKOPP_BUILD_TESTS=OFF -DKOPP_WITH_CPPREST=OFF)
expect("\n    Boost    1[.]74      1[.]73[.]0  libboost-dev")

configure(optional DISABLED cpprestsdk GTest rapidcheck Python3
  ARGUMENTS -DKOPP_BUILD_TESTS=OFF -DKOPP_WITH_CPPREST=OFF)

# A project that contains kopp, and has a library of its own that kopp uses.
file(WRITE ${WORK}/parent/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES CXX)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
add_subdirectory(${SOURCE} kopp)
")
set(SOURCE ${WORK}/parent)
configure(contained DISABLED nlohmann_json OpenSSL MISSING OpenSSL ARGUMENTS -DKOPP_WITH_CPPREST=OFF)

# A project that uses an installed kopp.
file(WRITE ${WORK}/user/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(kopp \${FIND_KOPP})
message(\"kopp_FOUND is \${kopp_FOUND}\")
")
set(SOURCE ${WORK}/user)
function(configure_user name find)
  configure(${name} ARGUMENTS -DCMAKE_PREFIX_PATH=${INSTALLED} "-DFIND_KOPP=${find}" ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()
configure_user(user_several REQUIRED DISABLED simdjson yaml-cpp Boost MISSING simdjson yaml-cpp)
expect("\n    yaml-cpp  0[.]7       -      libyaml-cpp-dev ")
configure_user(user_optional QUIET DISABLED simdjson yaml-cpp)
expect("kopp_FOUND is (0|FALSE)\n")
configure_user(user_informer "COMPONENTS;informer;REQUIRED" DISABLED OpenSSL prometheus-cpp re2 yaml-cpp)
expect("kopp_FOUND is (1|TRUE)\n")
configure_user(user_unknown "COMPONENTS;informers" DISABLED cpprestsdk)
expect("this kopp has no component informers\n")
