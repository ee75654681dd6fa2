# Sets the program that starts the compiler: ccache, clang-tidy, or both. Does nothing in a project of a
# user, or if the user has set CMAKE_CXX_COMPILER_LAUNCHER.
if(KOPP_CLANG_TIDY AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "KOPP_CLANG_TIDY needs clang, whose options clang-tidy understands: run `make tidy`. If this is its "
    "build folder, it was configured for ${CMAKE_CXX_COMPILER_ID}: delete ${PROJECT_BINARY_DIR} first")
endif()
if(KOPP_CLANG_TIDY AND DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  message(FATAL_ERROR "KOPP_CLANG_TIDY sets CMAKE_CXX_COMPILER_LAUNCHER: remove yours, also from the environment")
endif()
if(NOT PROJECT_IS_TOP_LEVEL OR DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
find_program(KOPP_CCACHE ccache)
set(tidy "")
set(tidy_settings "")
if(KOPP_CLANG_TIDY)
  set(tidy ${PROJECT_SOURCE_DIR}/cmake/clang_tidy.sh)
  set(checks ${PROJECT_SOURCE_DIR}/.clang-tidy)
  # ccache runs clang-tidy only if the script, the checks, a source or one of its headers has changed since the
  # source passed. It compares the preprocessed text with comments, because NOLINT is one, and with macros (-dD),
  # whose names clang-tidy checks. It misses only a change of a comment in a line of #define.
  add_compile_options(-dD)
  set(tidy_settings CCACHE_PREFIX=${tidy} CCACHE_EXTRAFILES=${checks}:${tidy} CCACHE_COMMENTS=1 CCACHE_CPP2=1)
  # For ninja: it compiles all sources again if the checks or the script have changed.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${checks} ${tidy})
  file(SHA256 ${checks} checks_hash)
  file(SHA256 ${tidy} tidy_hash)
  add_compile_definitions(KOPP_CLANG_TIDY=${checks_hash}${tidy_hash})
endif()
if(KOPP_CCACHE) # another clone, in another folder, hits the same entries
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${tidy_settings} ${KOPP_CCACHE})
elseif(tidy)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${tidy})
endif()
