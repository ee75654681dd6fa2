# Settings for a project that contains kopp. All of them apply to the folder of kopp only.

# Sources of the project include the headers of kopp with -isystem, as with find_package.
set_property(DIRECTORY PROPERTY SYSTEM ON)
# Sources of kopp are compiled without warnings and without the checks of the project, which may be errors there.
target_compile_options(kopp_warnings INTERFACE -w)
foreach(check CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE)
  set(CMAKE_CXX_${check} "")
endforeach()
# Shared libraries of kopp export their functions, also if those of the project hide theirs.
if(BUILD_SHARED_LIBS AND CMAKE_CXX_VISIBILITY_PRESET)
  set(CMAKE_CXX_VISIBILITY_PRESET default)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN OFF)
endif()
# The target `all` of the project builds only those libraries of kopp that the project links, unless the project installs all.
if(NOT KOPP_INSTALL)
  set_property(DIRECTORY PROPERTY EXCLUDE_FROM_ALL ON)
endif()
