# Writes the settings of the folder of CMake that calls it to `file`, one a line: variables and entries of the cache, properties of the
# folder and of CMake, and policies.
function(write_settings file)
  get_cmake_property(names VARIABLES)
  list(FILTER names EXCLUDE REGEX "^(ARG[CNV]|file$|names$|CMAKE_MATCH_)")
  set(settings "")
  foreach(name IN LISTS names)
    string(APPEND settings "variable ${name}=${${name}}\n")
  endforeach()
  foreach(name BUILDSYSTEM_TARGETS COMPILE_DEFINITIONS COMPILE_OPTIONS EXCLUDE_FROM_ALL IMPORTED_TARGETS INCLUDE_DIRECTORIES
      INTERPROCEDURAL_OPTIMIZATION LINK_DIRECTORIES LINK_OPTIONS RULE_LAUNCH_COMPILE RULE_LAUNCH_LINK SYSTEM TESTS)
    get_directory_property(value ${name})
    string(APPEND settings "property of the folder ${name}=${value}\n")
  endforeach()
  foreach(name ALLOW_DUPLICATE_CUSTOM_TARGETS DEBUG_CONFIGURATIONS ENABLED_LANGUAGES FIND_LIBRARY_USE_LIB64_PATHS
      GLOBAL_DEPENDS_NO_CYCLES JOB_POOLS PREDEFINED_TARGETS_FOLDER RULE_LAUNCH_COMPILE RULE_LAUNCH_LINK USE_FOLDERS)
    get_cmake_property(value ${name})
    string(APPEND settings "property of CMake ${name}=${value}\n")
  endforeach()
  foreach(number RANGE 200)
    string(REGEX REPLACE "^.*(....)$" "CMP\\1" name "000${number}")
    if(POLICY ${name})
      cmake_policy(GET ${name} value)
      string(APPEND settings "policy ${name}=${value}\n")
    endif()
  endforeach()
  string(REGEX REPLACE "[];[\\]" "|" settings "${settings}") # characters that are special in lists of lines
  file(WRITE ${file} "${settings}")
endfunction()
