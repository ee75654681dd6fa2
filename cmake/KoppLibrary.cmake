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
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH kopp_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${kopp_libraries}")
endif()
