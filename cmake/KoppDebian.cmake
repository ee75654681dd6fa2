# The packages of Debian and Ubuntu, made by CPack: libkopp-dev, libkopp0.1 and kopp-tools. `make deb` builds them.
set(CMAKE_SKIP_INSTALL_RPATH ON) # the libraries are in a folder that the loader searches

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT $ENV{DEBEMAIL})
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "kopp maintainers <maintainers@kopp.invalid>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL kopp_dev kopp_libraries kopp_tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

# Describes the package of a component, with the files that each package of Debian has.
function(kopp_add_debian_package component package)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SHLIBDEPS" "SECTION;SUMMARY;DESCRIPTION;DEPENDS;RECOMMENDS;SUGGESTS;OVERRIDES" "")
  string(TOUPPER ${component} variable)
  set(variable CPACK_DEBIAN_${variable})
  set(${variable}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(${variable}_PACKAGE_SECTION ${arg_SECTION} PARENT_SCOPE)
  set(${variable}_DESCRIPTION "${arg_SUMMARY}\n${arg_DESCRIPTION}" PARENT_SCOPE)
  set(${variable}_PACKAGE_SHLIBDEPS ${arg_SHLIBDEPS} PARENT_SCOPE)
  foreach(field DEPENDS RECOMMENDS SUGGESTS)
    set(${variable}_PACKAGE_${field} "${arg_${field}}" PARENT_SCOPE)
  endforeach()
  set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright DESTINATION ${documents} COMPONENT ${component})
  install(FILES ${kopp_changelog} DESTINATION ${documents} RENAME changelog.gz COMPONENT ${component})
  if(arg_OVERRIDES)
    file(WRITE ${PROJECT_BINARY_DIR}/debian/overrides/${package} "${arg_OVERRIDES}\n")
    install(FILES ${PROJECT_BINARY_DIR}/debian/overrides/${package}
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides COMPONENT ${component})
  endif()
endfunction()

# The changelog of the packages has the date of the newest release of CHANGELOG.md, which has the changes.
file(READ ${PROJECT_SOURCE_DIR}/CHANGELOG.md kopp_changes)
if(NOT kopp_changes MATCHES "\n## ${PROJECT_VERSION} — ([0-9]+-[0-9]+-[0-9]+)\n")
  message(FATAL_ERROR "CHANGELOG.md has no date of the release ${PROJECT_VERSION}")
endif()
execute_process(COMMAND date --utc --rfc-email --date=${CMAKE_MATCH_1} OUTPUT_VARIABLE kopp_date OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
set(kopp_changelog ${PROJECT_BINARY_DIR}/debian/changelog.gz)
file(CONFIGURE OUTPUT debian/changelog @ONLY CONTENT
"kopp (@PROJECT_VERSION@) unstable; urgency=medium

  * Release @PROJECT_VERSION@. CHANGELOG.md of the sources lists the changes.

 -- @CPACK_PACKAGE_CONTACT@  @kopp_date@
")
execute_process(COMMAND gzip -9 --no-name --stdout ${PROJECT_BINARY_DIR}/debian/changelog OUTPUT_FILE ${kopp_changelog}
  COMMAND_ERROR_IS_FATAL ANY)

set(kopp_abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(kopp_library_package libkopp${kopp_abi})
set(kopp_same_version "${kopp_library_package} (= ${PROJECT_VERSION})")
kopp_add_debian_package(kopp_libraries ${kopp_library_package} SHLIBDEPS
  SECTION libs
  SUMMARY "Kubernetes operators in C++: shared libraries"
  DESCRIPTION "kopp is a framework for Kubernetes operators in C++, with a work queue, informers, a client and a manager.
 .
 This package has the libraries that operators load."
  OVERRIDES "# It has the libraries of all modules, which have one version. An operator loads most of them.
${kopp_library_package}: package-name-doesnt-match-sonames")
kopp_add_debian_package(kopp_dev libkopp-dev
  SECTION libdevel
  SUMMARY "Kubernetes operators in C++: headers"
  DESCRIPTION "kopp is a framework for Kubernetes operators in C++, with a work queue, informers, a client and a manager.
 .
 This package has the headers, and the files for CMake and pkg-config.
 Operators that link the libraries load those of ${kopp_library_package}."
  DEPENDS "${kopp_same_version}, libre2-dev, libsimdjson-dev, libssl-dev, libyaml-cpp-dev, nlohmann-json3-dev, prometheus-cpp-dev"
  RECOMMENDS "g++ | c++-compiler, cmake"
  SUGGESTS "kopp-tools, libcpprest-dev")
kopp_add_debian_package(kopp_tools kopp-tools SHLIBDEPS
  SECTION devel
  SUMMARY "Kubernetes operators in C++: programs"
  DESCRIPTION "This package has three programs for developers of Kubernetes operators:
 kopp starts projects and generates types and manifests, kopp-apiserver is
 a Kubernetes API server in memory for demos and tests, and sample-controller
 is an example of an operator."
  DEPENDS "${kopp_same_version}"
  SUGGESTS "libkopp-dev")

# A manual page for each program, made from its --help.
function(kopp_add_manual program summary)
  set(page ${PROJECT_BINARY_DIR}/debian/${program}.1.gz)
  add_custom_command(OUTPUT ${page} VERBATIM DEPENDS ${program}
    COMMAND sh -c "help2man --no-info --version-string=${PROJECT_VERSION} --name='${summary}' $<TARGET_FILE:${program}> >${program}.1"
    COMMAND gzip -9 --no-name --force ${program}.1
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/debian)
  add_custom_target(manual-${program} ALL DEPENDS ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT kopp_tools)
endfunction()
kopp_add_manual(kopp "start projects of Kubernetes operators in C++")
kopp_add_manual(kopp-apiserver "run a Kubernetes API server in memory")
kopp_add_manual(sample-controller "an example of a Kubernetes operator")

include(CPack)
