cmake_minimum_required(VERSION 3.25)
# Checks every #include against the layers of the project: the modules, the folders in each module, and
# the third-party headers that each folder may use; and the number of sources in a folder. This file is
# the one place for these rules. It prints each offending line and folder.
#   cmake -DSOURCE=<kopp> -P layering.cmake
set(problems "")

# Reports each include in `folder` that matches the regular expression `forbidden`, unless the file is
# listed after EXCEPT.
function(forbid folder forbidden)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCEPT")
  if(NOT IS_DIRECTORY ${SOURCE}/${folder})
    message(FATAL_ERROR "layering.cmake names ${folder}, which does not exist")
  endif()
  foreach(exception IN LISTS arg_EXCEPT)
    if(NOT EXISTS ${SOURCE}/${folder}/${exception})
      message(FATAL_ERROR "layering.cmake names ${folder}/${exception}, which does not exist")
    endif()
  endforeach()
  file(GLOB_RECURSE files ${SOURCE}/${folder}/*.hpp ${SOURCE}/${folder}/*.cpp)
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${SOURCE}/${folder} OUTPUT_VARIABLE name)
    if(name IN_LIST arg_EXCEPT)
      continue()
    endif()
    file(STRINGS ${file} includes REGEX "^#include [<\"](${forbidden})")
    foreach(include IN LISTS includes)
      string(APPEND problems "  ${folder}/${name}: ${include}\n")
    endforeach()
  endforeach()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

# Reports each include of a folder in `root` that stands above the including folder. The folders are
# listed bottom to top; every folder of `root` has to be listed.
function(layer root)
  file(GLOB folders RELATIVE ${SOURCE}/${root} LIST_DIRECTORIES true ${SOURCE}/${root}/*)
  foreach(folder IN LISTS folders)
    if(NOT folder IN_LIST ARGN)
      string(APPEND problems "  ${root}/${folder} is not listed in layering.cmake\n")
    endif()
  endforeach()
  set(above ${ARGN})
  foreach(folder IN LISTS ARGN)
    list(REMOVE_ITEM above ${folder})
    if(above)
      list(JOIN above "/|" forbidden)
      forbid(${root}/${folder} "${forbidden}/")
    endif()
  endforeach()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

# Reports each folder in `roots` that holds more than 45 sources: such a folder does not show one idea.
function(limit_folders)
  foreach(root IN LISTS ARGN)
    if(NOT IS_DIRECTORY ${SOURCE}/${root})
      message(FATAL_ERROR "layering.cmake names ${root}, which does not exist")
    endif()
    file(GLOB_RECURSE folders LIST_DIRECTORIES true ${SOURCE}/${root}/*)
    list(PREPEND folders ${SOURCE}/${root})
    foreach(folder IN LISTS folders)
      if(NOT IS_DIRECTORY ${folder})
        continue()
      endif()
      file(GLOB sources ${folder}/*.hpp ${folder}/*.cpp)
      list(LENGTH sources count)
      if(count GREATER 45)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${SOURCE})
        string(APPEND problems "  ${folder} holds ${count} sources, more than 45\n")
      endif()
    endforeach()
  endforeach()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()
limit_folders(workqueue informer framework controllers examples tests)

# Modules: workqueue < informer < framework < apiserver, controllers, examples.
set(heavy "cpprest/|pplx/|yaml-cpp/|prometheus/|boost/|CLI/|openssl/|re2/|fmt/|gtest/|gmock/|google/protobuf/")
set(framework_headers "kopp/(controller|crd|leader_election|markers|metrics|serving|testing|transport)/")
forbid(workqueue "nlohmann/|simdjson|${heavy}|kopp/informer/|${framework_headers}|kopp/[a-z_]+\\.hpp")
forbid(informer "${heavy}|${framework_headers}|kopp/[a-z_]+\\.hpp")
forbid(informer/include "simdjson|nlohmann/json\\.hpp")
forbid(informer/k8s/include "nlohmann/json\\.hpp")
forbid(framework/include "simdjson|${heavy}")
forbid(framework/include "nlohmann/json\\.hpp|kopp/json\\.hpp" EXCEPT kopp/json.hpp)
forbid(framework/apiserver/include "simdjson|${heavy}")
forbid(examples "simdjson|${heavy}" EXCEPT 07_testing_a_reconciler.cpp 08_explore.cpp)
forbid(controllers "simdjson|${heavy}")

# Folders of framework. internal/ is shared with the API server and knows nothing of src/.
layer(framework/internal system net http_server json schema api validation)
layer(framework/src log config transport recording client crd metrics leader_election serving controller
  manager)
set(framework_folders
  "log|config|transport|recording|client|crd|metrics|leader_election|serving|controller|manager")
forbid(framework/internal "(${framework_folders})/")
forbid(framework/internal "simdjson|cpprest/|pplx/|prometheus/|gtest/|gmock/|google/protobuf/")
forbid(framework/internal "yaml-cpp/" EXCEPT json/yaml.cpp)
forbid(framework/internal "re2/" EXCEPT json/pattern.cpp)
foreach(folder system net http_server)
  forbid(framework/internal/${folder} "fmt/")
endforeach()
forbid(framework/internal "CLI/" EXCEPT system/command_line.cpp)
forbid(framework/internal/system "boost/")
forbid(framework/src "simdjson|re2/|fmt/|gtest/|gmock/")
forbid(framework/src "cpprest/|pplx/|boost/asio"
  EXCEPT transport/cpprest_transport.cpp transport/cpprest_bodies.hpp
  transport/cpprest_threads.hpp)
forbid(framework/src "yaml-cpp/"
  EXCEPT config/kubeconfig.cpp config/yaml_document.hpp config/yaml_document.cpp)
foreach(folder log config transport recording client crd leader_election serving controller manager)
  forbid(framework/src/${folder} "prometheus/")
endforeach()
forbid(framework/src "CLI/|google/protobuf/")
forbid(framework/src "openssl/" EXCEPT config/config_input.cpp)

# Folders of the API server. Of framework's private headers it uses internal/ only.
set(apiserver framework/apiserver/src)
layer(${apiserver} json schema protobuf api storage fieldmanager validation auth printers handlers
  faults http testing explore)
forbid(framework/apiserver "(${framework_folders})/")
forbid(framework/apiserver "simdjson|cpprest/|pplx/|prometheus/|CLI/|gtest/|gmock/")
forbid(${apiserver} "boost/" EXCEPT http/api_http_server.cpp)
forbid(${apiserver} "yaml-cpp/|re2/")
forbid(${apiserver} "google/protobuf/"
  EXCEPT protobuf/json_to_message.cpp protobuf/message_json.hpp protobuf/message_to_json.cpp
  protobuf/message_types.cpp protobuf/message_types.hpp protobuf/protobuf.cpp)
forbid(${apiserver} "openssl/"
  EXCEPT auth/jwt.cpp json/base64.cpp http/certificate_authority.cpp http/users.cpp)
forbid(framework/apiserver/program "boost/|yaml-cpp/|re2/|openssl/")

# The command kopp uses internal/, too, and nothing of the API server.
set(command framework/command)
forbid(${command} "(${framework_folders})/|handlers/|storage/|kopp/testing/")
forbid(${command} "simdjson|cpprest/|pplx/|prometheus/|boost/|yaml-cpp/|re2/|openssl/|fmt/|gtest/|gmock/")
forbid(${command} "CLI/" EXCEPT src/command_line.cpp)

if(problems)
  message(FATAL_ERROR "the layers or the limit of a folder are broken:\n${problems}")
endif()
message("every include respects the layers, and no folder holds more than 45 sources")
