# The packages of Debian and Ubuntu, made by CPack: libkopp-dev, libkopp0.1 and kopp-tools. `make deb` builds them.
set(KOPP_DEBIAN_VERSION ${PROJECT_VERSION} CACHE STRING "The version of the packages (make deb adds the commit if it is no release)")
set(kopp_maintainer $ENV{DEBEMAIL})
if(NOT kopp_maintainer)
  set(kopp_maintainer maintainers@kopp.invalid)
endif()
if(NOT kopp_maintainer MATCHES "<")
  set(kopp_name $ENV{DEBFULLNAME})
  if(NOT kopp_name)
    set(kopp_name "kopp maintainers")
  endif()
  set(kopp_maintainer "${kopp_name} <${kopp_maintainer}>")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT ${kopp_maintainer})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL kopp_dev kopp_libraries kopp_tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_VERSION ${KOPP_DEBIAN_VERSION})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # other packages depend on exactly this version: no ABI is promised
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}) # the programs need libraries of another component

# Describes the package of a component, with the files that each package of Debian has. OVERRIDES: tags of lintian with their reasons.
function(kopp_add_debian_package component package)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SHLIBDEPS"
    "SECTION;SUMMARY;DESCRIPTION;DEPENDS;RECOMMENDS;SUGGESTS;CONTROL_EXTRA;OVERRIDES" "")
  string(TOUPPER ${component} variable)
  set(variable CPACK_DEBIAN_${variable})
  set(${variable}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(${variable}_PACKAGE_SHLIBDEPS ${arg_SHLIBDEPS} PARENT_SCOPE)
  set(${variable}_DESCRIPTION "${arg_SUMMARY}\n${arg_DESCRIPTION}" PARENT_SCOPE)
  foreach(field SECTION DEPENDS RECOMMENDS SUGGESTS CONTROL_EXTRA)
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

set(kopp_changelog ${PROJECT_BINARY_DIR}/debian/changelog.gz)
string(TIMESTAMP kopp_date "%a, %d %b %Y %H:%M:%S +0000" UTC) # $SOURCE_DATE_EPOCH, if it is set
file(CONFIGURE OUTPUT debian/changelog @ONLY CONTENT
"kopp (@KOPP_DEBIAN_VERSION@) unstable; urgency=medium

  * CHANGELOG.md of the sources lists the changes.

 -- @kopp_maintainer@  @kopp_date@
")
execute_process(COMMAND gzip -9 --no-name --stdout ${PROJECT_BINARY_DIR}/debian/changelog OUTPUT_FILE ${kopp_changelog}
  COMMAND_ERROR_IS_FATAL ANY)

set(kopp_library_package libkopp${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(kopp_same_version "${kopp_library_package} (= ${KOPP_DEBIAN_VERSION})")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
kopp_add_debian_package(kopp_libraries ${kopp_library_package} SHLIBDEPS
  SECTION libs
  SUMMARY "Kubernetes operators in C++: shared libraries"
  DESCRIPTION "kopp is a framework for Kubernetes operators in C++, with a work queue,
informers, a client and a manager.

This package has the libraries that operators load."
  CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers
  OVERRIDES "# The package has the libraries of all modules, which have one version. An operator loads most of them.
${kopp_library_package}: package-name-doesnt-match-sonames
# CPack writes these scripts for each package with libraries.
${kopp_library_package}: maintscript-calls-ldconfig")
kopp_add_debian_package(kopp_dev libkopp-dev
  SECTION libdevel
  SUMMARY "Kubernetes operators in C++: headers"
  DESCRIPTION "kopp is a framework for Kubernetes operators in C++, with a work queue,
informers, a client and a manager.

This package has the headers, and the files for CMake and pkg-config.
Programs that link the libraries load those of ${kopp_library_package}."
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
