# A file for pkg-config for each library that users name, so that builds without CMake can use an installed kopp.

# Sets `result` to the target and all that it links, each before what it links itself, as static libraries need it.
function(kopp_sort_links target result)
  set(sorted ${target})
  set(done 0)
  list(LENGTH sorted count)
  while(done LESS count)
    list(GET sorted ${done} next)
    math(EXPR done "${done} + 1")
    set(links "")
    if(next MATCHES "^kopp_")
      get_target_property(links ${next} INTERFACE_LINK_LIBRARIES)
    endif()
    foreach(link IN LISTS links)
      string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
      string(REGEX REPLACE "^kopp::" "kopp_" link "${link}")
      if(link MATCHES "^(\\$<BUILD_INTERFACE:|::@)" OR NOT link) # "::@(…)" only ends a group of targets of another folder
        continue()
      endif()
      list(FIND sorted ${link} position)
      list(REMOVE_ITEM sorted ${link})
      list(APPEND sorted ${link})
      if(position GREATER_EQUAL 0 AND position LESS done)
        math(EXPR done "${done} - 1") # its links follow it once more
      endif()
    endforeach()
    list(LENGTH sorted count)
  endwhile()
  set(${result} ${sorted} PARENT_SCOPE)
endfunction()

# Installs NAME.pc, with which a program links kopp::LIBRARY.
function(kopp_install_pkgconfig name library description)
  set(package_of_nlohmann_json::nlohmann_json nlohmann_json)
  set(package_of_OpenSSL::SSL openssl)
  set(package_of_OpenSSL::Crypto openssl)
  set(package_of_prometheus-cpp::core prometheus-cpp-core)
  set(package_of_re2::re2 re2)
  set(package_of_simdjson::simdjson simdjson)
  set(package_of_yaml-cpp yaml-cpp)
  kopp_sort_links(kopp_${library} targets)
  set(libraries "")
  set(packages "")
  foreach(target IN LISTS targets)
    if(target MATCHES "^kopp_")
      get_target_property(type ${target} TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY")
        list(APPEND libraries -l${target})
      endif()
    elseif(DEFINED package_of_${target})
      list(APPEND packages ${package_of_${target}})
    elseif(NOT target STREQUAL "Threads::Threads")
      message(FATAL_ERROR "KoppPkgConfig.cmake has no package for ${target}, which kopp::${library} links")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(JOIN libraries " " libraries)
  list(JOIN packages " " packages)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE prefix)
  # An absolute folder replaces the prefix.
  set(include_folder "\${prefix}")
  cmake_path(APPEND include_folder ${CMAKE_INSTALL_INCLUDEDIR})
  set(library_folder "\${prefix}")
  cmake_path(APPEND library_folder ${CMAKE_INSTALL_LIBDIR})
  file(CONFIGURE OUTPUT ${name}.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@prefix@
Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @packages@
Cflags: -I@include_folder@ -pthread
Libs: -L@library_folder@ @libraries@ -pthread
]])
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

kopp_install_pkgconfig(kopp framework "Kubernetes operators in C++")
kopp_install_pkgconfig(kopp-workqueue workqueue "Deduplicating, delaying and rate-limiting queues")
kopp_install_pkgconfig(kopp-informer informer "Caches of Kubernetes objects that follow watches")
kopp_install_pkgconfig(kopp-apiserver apiserver "A Kubernetes API server in memory, for tests of operators")
