# Finds RE2 and defines the imported target re2::re2. Recent releases of RE2 install a CMake package;
# the release in Debian 12 does not, so this module then looks for the header and the library.
find_package(re2 CONFIG QUIET)
if(TARGET re2::re2)
  set(re2_FOUND TRUE)
  return()
endif()

find_path(re2_INCLUDE_DIR re2/re2.h)
find_library(re2_LIBRARY re2)
mark_as_advanced(re2_INCLUDE_DIR re2_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(re2 REQUIRED_VARS re2_LIBRARY re2_INCLUDE_DIR)
if(re2_FOUND)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES
    IMPORTED_LOCATION "${re2_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${re2_INCLUDE_DIR}")
endif()
