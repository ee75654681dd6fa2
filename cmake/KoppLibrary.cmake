# Calls install() if KOPP_INSTALL is ON. GNUInstallDirs adds entries to the cache, so it is not included otherwise.
if(KOPP_INSTALL)
  include(GNUInstallDirs)
endif()
function(kopp_install)
  if(KOPP_INSTALL)
    install(${ARGV})
  endif()
endfunction()

# The components of the installation are the packages of KoppDebian.cmake: kopp_libraries, kopp_tools, and kopp_dev for the rest.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME kopp_dev)
function(kopp_install_library target)
  kopp_install(TARGETS ${target} EXPORT kopp LIBRARY COMPONENT kopp_libraries NAMELINK_COMPONENT kopp_dev FILE_SET HEADERS)
endfunction()
function(kopp_install_program target)
  kopp_install(TARGETS ${target} COMPONENT kopp_tools)
endfunction()

# Sets what the installed libraries have in common. They are position-independent, so that you may link static libraries
# into a shared one. A build with BUILD_SHARED_LIBS has the same objects, so ccache has most of them.
function(kopp_set_library_properties target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    DEFINE_SYMBOL ""
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # no ABI is promised between minor releases
  # As in code that is not position-independent, functions of a library may be inlined into each other.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
endfunction()

# Installed programs and shared libraries find the libraries of the same prefix.
if(BUILD_SHARED_LIBS AND KOPP_INSTALL)
  file(RELATIVE_PATH kopp_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${kopp_libraries}")
endif()

# Adds the library kopp::MODULE_testing: the doubles of the module for tests, in its folder testing/. Production code must not
# link it. Call it in the CMakeLists.txt of the module. LINKS: further libraries; SOURCES and HEADERS: names in testing/ and in
# testing/include/kopp/testing/.
function(kopp_add_doubles module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS;SOURCES;HEADERS")
  list(TRANSFORM arg_SOURCES PREPEND testing/)
  list(TRANSFORM arg_HEADERS PREPEND testing/include/kopp/testing/)
  add_library(kopp_${module}_testing ${arg_SOURCES})
  add_library(kopp::${module}_testing ALIAS kopp_${module}_testing)
  set_target_properties(kopp_${module}_testing PROPERTIES EXPORT_NAME ${module}_testing)
  kopp_set_library_properties(kopp_${module}_testing)
  target_link_libraries(kopp_${module}_testing
    PUBLIC kopp::${module} ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:kopp_warnings>)
  target_sources(kopp_${module}_testing PUBLIC FILE_SET HEADERS BASE_DIRS testing/include FILES ${arg_HEADERS})
  kopp_install_library(kopp_${module}_testing)
endfunction()
