# Copies the headers of the workqueue, and plants a bug in the copy.
#   cmake -DHEADERS=<include folder> -DCOPY=<folder> [-DPATCH=<file>] -DPATCH_PROGRAM=<file> -P plant.cmake
file(REMOVE_RECURSE ${COPY})
file(COPY ${HEADERS}/kopp DESTINATION ${COPY})
if(PATCH)
  execute_process(COMMAND ${PATCH_PROGRAM} --strip=1 --forward --batch --directory=${COPY} --input=${PATCH}
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "this patch no longer applies to the headers: plant its bug anew\n${PATCH}\n${output}")
  endif()
endif()
file(GLOB_RECURSE copies ${COPY}/*.hpp)
file(TOUCH ${copies})
