# Checks that the manifest is the CustomResourceDefinition that the program prints with --print-crd,
# after its first comment.
#   cmake -DPROGRAM=FILE -DMANIFEST=FILE -P crd.cmake
execute_process(COMMAND ${PROGRAM} --print-crd OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${MANIFEST} manifest)
string(REGEX REPLACE "^(#[^\n]*\n)+" "" manifest "${manifest}")
if(NOT "${manifest}" STREQUAL "${printed}")
  message(FATAL_ERROR "${MANIFEST}: it is not the output of --print-crd. Replace it by:\n${printed}")
endif()
