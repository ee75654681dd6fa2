cmake_minimum_required(VERSION 3.25)
# The chain of modules, kept by reading each #include: workqueue ← informer ← framework ← the rest.
# (The include paths of the targets keep it too; this names the line.)
#   cmake -DSOURCE=<kopp> -P layering.cmake
set(problems "")

# Every include of the files of `module` that matches `forbidden`, unless it stands in `except`.
function(forbid module forbidden)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCEPT")
  file(GLOB_RECURSE files ${SOURCE}/${module}/*.hpp ${SOURCE}/${module}/*.cpp)
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${SOURCE} OUTPUT_VARIABLE name)
    if(name IN_LIST arg_EXCEPT)
      continue()
    endif()
    file(STRINGS ${file} includes REGEX "^#include [<\"](${forbidden})")
    foreach(include IN LISTS includes)
      string(APPEND problems "  ${name}: ${include}\n")
    endforeach()
  endforeach()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

set(third_party "nlohmann/|simdjson|cpprest/|pplx/|yaml-cpp/|prometheus/|boost/|CLI/|openssl/|gtest/|gmock/")
forbid(workqueue "${third_party}|kopp/informer/|kopp/[a-z_]+\\.hpp")
forbid(informer "cpprest/|pplx/|yaml-cpp/|prometheus/|boost/|CLI/|openssl/|gtest/|gmock/|kopp/[a-z_]+\\.hpp")
forbid(informer/include "simdjson")
forbid(framework/include "simdjson|cpprest/|pplx/|yaml-cpp/|prometheus/|boost/|CLI/|openssl/|gtest/|gmock/")
forbid(framework/src "cpprest/|pplx/" EXCEPT framework/src/rest_transport.cpp framework/src/rest_bodies.hpp)
forbid(framework/src "yaml-cpp/" EXCEPT framework/src/kubeconfig.cpp)
forbid(framework/src "CLI/" EXCEPT framework/src/command_line.cpp)
forbid(framework/src "prometheus/" EXCEPT framework/src/prometheus.cpp)
forbid(framework/src "boost/asio" EXCEPT framework/src/door.hpp framework/src/http_server.cpp framework/src/http_session.cpp
  framework/src/http_session.hpp framework/src/listener.hpp framework/src/rest_transport.cpp)
forbid(framework/src "simdjson|gtest/|gmock/")
forbid(framework/apiserver "simdjson|cpprest/|pplx/|prometheus/|CLI/|gtest/|gmock/")
set(front framework/apiserver/src)
forbid(framework/apiserver "boost/" EXCEPT ${front}/front.cpp ${front}/http_text.cpp
  ${front}/http_text.hpp ${front}/session.cpp ${front}/session.hpp ${front}/wire.cpp
  ${front}/wire.hpp)
forbid(framework/apiserver "yaml-cpp/" EXCEPT framework/apiserver/src/yaml.cpp)
forbid(framework/apiserver "openssl/" EXCEPT framework/apiserver/src/base64.cpp
  ${front}/authority.cpp ${front}/users.cpp)
forbid(examples "simdjson|cpprest/|pplx/|yaml-cpp/|prometheus/|boost/|CLI/|openssl/|gtest/|gmock/")
forbid(controllers "simdjson|cpprest/|pplx/|yaml-cpp/|prometheus/|boost/|CLI/|openssl/|gtest/|gmock/")

if(problems)
  message(FATAL_ERROR "includes against the layers of ARCHITECTURE.md:\n${problems}")
endif()
message("each include keeps to the layers")
