# The libraries that kopp uses, with their packages on several systems: docs/platforms.md has the same table. Looks for those in the
# list kopp_packages, and sets kopp_missing to the rows of those that are missing or too old. The installed package has this file, too.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW) # cpprestsdk looks for Boost, too: with the package of Boost, not with that of CMake
endif()

# If kopp_packages has `name`: finds this package of CMake, which defines the library `target`, in the version `minimum` or a newer one.
# Does not look for it if the project that uses kopp has defined `target`. The packages of systems follow ("-": none is known), then
# further arguments of find_package. A macro, because find_package sets variables.
macro(kopp_find name minimum target debian fedora alpine homebrew)
  if("${name}" IN_LIST kopp_packages)
    if(NOT TARGET ${target})
      find_package(${name} QUIET ${ARGN})
    endif()
    kopp_check_version(${name} ${minimum} ${target} "${debian}|${fedora}|${alpine}|${homebrew}")
  endif()
endmacro()

# Adds a row to kopp_missing if `target` is not defined or its package is older than `minimum`.
function(kopp_check_version name minimum target packages)
  string(TOUPPER ${name}_VERSION upper_case) # FindOpenSSL sets only OPENSSL_VERSION
  set(found "-")
  foreach(variable ${name}_VERSION ${upper_case})
    if(${variable})
      set(found ${${variable}})
    endif()
  endforeach()
  if(NOT TARGET ${target})
    set(found "-")
  elseif(found STREQUAL "-" OR minimum STREQUAL "-" OR NOT found VERSION_LESS minimum)
    return()
  endif()
  set(kopp_missing ${kopp_missing} "${name}|${minimum}|${found}|${packages}" PARENT_SCOPE)
endfunction()

# Sets `result` to a message with a table of the rows of kopp_missing.
function(kopp_describe_missing result)
  set(rows "Library|At least|Found|Debian, Ubuntu|Fedora|Alpine|Homebrew" ${kopp_missing})
  list(TRANSFORM rows REPLACE ".+" " " OUTPUT_VARIABLE lines)
  foreach(column RANGE 6)
    set(cells "")
    set(width 0)
    foreach(row IN LISTS rows)
      string(REPLACE "|" ";" row "${row}")
      list(GET row ${column} cell)
      list(APPEND cells "${cell}")
      string(LENGTH "${cell}" length)
      if(length GREATER width)
        set(width ${length})
      endif()
    endforeach()
    set(longer_lines "")
    foreach(line cell IN ZIP_LISTS lines cells)
      string(LENGTH "${cell}" length)
      math(EXPR padding "${width} - ${length}")
      string(REPEAT " " ${padding} padding)
      list(APPEND longer_lines "${line} ${cell}${padding} ")
    endforeach()
    set(lines "${longer_lines}")
  endforeach()
  list(TRANSFORM lines REPLACE " +$" "")
  list(JOIN lines "\n" table)

  set(${result} "kopp needs these libraries, which were not found or are too old:\n${table}\nInstall their packages, and run cmake again. \
\"-\" means that no package is known: see docs/platforms.md of kopp." PARENT_SCOPE)
endfunction()

set(kopp_missing "")
#         package        minimum target                     Debian, Ubuntu      Fedora                  Alpine         Homebrew
kopp_find(Boost          1.74    Boost::headers             libboost-dev        boost-devel             boost-dev      boost CONFIG)
kopp_find(CLI11          2.1     CLI11::CLI11               libcli11-dev        cli11-devel             -              cli11)
kopp_find(fmt            9.1     fmt::fmt-header-only       libfmt-dev          fmt-devel               fmt-dev        fmt)
kopp_find(nlohmann_json  3.11    nlohmann_json::nlohmann_json nlohmann-json3-dev json-devel             nlohmann-json  nlohmann-json)
kopp_find(OpenSSL        3.0     OpenSSL::SSL               libssl-dev          openssl-devel           openssl-dev    openssl@3)
kopp_find(prometheus-cpp 1.0     prometheus-cpp::core       prometheus-cpp-dev  libprometheus-cpp-devel -              prometheus-cpp CONFIG)
kopp_find(re2            -       re2::re2                   libre2-dev          re2-devel               re2-dev        re2)
kopp_find(simdjson       3.0     simdjson::simdjson         libsimdjson-dev     simdjson-devel          simdjson-dev   simdjson)
if("yaml-cpp" IN_LIST kopp_packages AND NOT TARGET yaml-cpp)
  find_package(yaml-cpp QUIET)
  if(TARGET yaml-cpp::yaml-cpp AND NOT TARGET yaml-cpp) # version 0.8
    add_library(yaml-cpp ALIAS yaml-cpp::yaml-cpp)
  endif()
endif()
kopp_find(yaml-cpp       0.7     yaml-cpp                   libyaml-cpp-dev     yaml-cpp-devel          yaml-cpp-dev   yaml-cpp)

# Only kopp-apiserver and tests link protobuf: statically if that is possible, because loading the shared library delays the
# start of kopp-apiserver by 2 ms. From version 22 on, the static library needs others.
if("Protobuf" IN_LIST kopp_packages AND NOT TARGET protobuf::libprotobuf)
  set(Protobuf_USE_STATIC_LIBS ON)
  find_package(Protobuf QUIET)
  if(NOT Protobuf_FOUND OR Protobuf_VERSION VERSION_GREATER_EQUAL 3.22)
    set(Protobuf_USE_STATIC_LIBS OFF)
    unset(Protobuf_LIBRARY_RELEASE CACHE)
    find_package(Protobuf QUIET)
  endif()
endif()
kopp_find(Protobuf       3.21    protobuf::libprotobuf      libprotobuf-dev     protobuf-devel          protobuf-dev   protobuf)
kopp_find(cpprestsdk     2.10    cpprestsdk::cpprest        libcpprest-dev      cpprest-devel           cpprestsdk-dev cpprestsdk)
kopp_find(GTest          1.12    GTest::gmock               libgmock-dev        gmock-devel             gtest-dev      googletest)
kopp_find(rapidcheck     -       rapidcheck                 librapidcheck-dev   -                       rapidcheck-dev -)
kopp_find(Python3        3.11    Python3::Interpreter       python3             python3                 python3        python
  COMPONENTS Interpreter)
