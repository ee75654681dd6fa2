# Writes a C++ source file that contains a copy of some headers of the workqueue for each patch, with
# the patch applied, and one unchanged copy. Each copy is in the namespace kopp::workqueue::<name of
# the patch>, so the other headers of the workqueue remain visible to it. To save compile time, a copy
# begins with the first header that the patch changes: the headers before it do not include it.
#   cmake -DOUTPUT=<file> -DINCLUDE=<include folder> -DHEADERS=<list> -DPATCHES=<list>
#     -DADAPTER=<header> -DPATCH_PROGRAM=<file> -P plant.cmake
set(source "#include \"${ADAPTER}\"\n")
foreach(patch IN LISTS PATCHES ITEMS unchanged)
  cmake_path(GET patch STEM bug)
  set(copy ${OUTPUT}.headers)
  file(REMOVE_RECURSE ${copy})
  file(COPY ${INCLUDE}/kopp DESTINATION ${copy})
  if(NOT patch STREQUAL "unchanged")
    execute_process(
      COMMAND ${PATCH_PROGRAM} --strip=1 --forward --batch --directory=${copy} --input=${patch}
      RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed)
      message(FATAL_ERROR "the patch does not apply to the headers; adapt it to them:\n${patch}\n${output}")
    endif()
  endif()
  string(APPEND source
    "namespace kopp::workqueue::${bug} { using namespace kopp::workqueue; }\n"
    "namespace kopp::workqueue::${bug}::detail { using namespace kopp::workqueue::detail; }\n")
  set(changed OFF)
  if(patch STREQUAL "unchanged")
    set(changed ON)
  endif()
  foreach(header IN LISTS HEADERS)
    file(READ ${INCLUDE}/kopp/workqueue/${header} original)
    file(READ ${copy}/kopp/workqueue/${header} text)
    if(NOT changed AND text STREQUAL original)
      continue()
    endif()
    set(changed ON)
    string(REGEX REPLACE "#(pragma|include)[^\n]*\n" "" text "${text}")
    string(REPLACE "namespace kopp::workqueue" "namespace kopp::workqueue::${bug}" text "${text}")
    string(APPEND source "${text}")
  endforeach()
  string(APPEND source "namespace kopp::model_checking {\nKOPP_REGISTER_COPY(${bug});\n}\n")
endforeach()
file(REMOVE_RECURSE ${OUTPUT}.headers)
file(WRITE ${OUTPUT} "${source}")
