# Checks that the Roles of the manifest are those that the program prints with --print-rbac.
#   cmake -DPROGRAM=FILE -DMANIFEST=FILE -P rbac.cmake
execute_process(
  COMMAND ${PROGRAM} --leader-elect --leader-election-namespace=default
    --metrics-bind-address=:8443 --print-rbac
  OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${MANIFEST} manifest)

# A list element must not contain brackets or semicolons, so replace them.
string(REPLACE "[" "<" documents "${manifest}")
string(REPLACE "]" ">" documents "${documents}")
string(REPLACE "---\n" ";" documents "${documents}")
list(FILTER documents INCLUDE REGEX "\nkind: (Cluster)?Role\n")
list(JOIN documents "---\n" roles)
string(REPLACE "<" "[" roles "${roles}")
string(REPLACE ">" "]" roles "${roles}")

if(NOT roles STREQUAL printed)
  message(FATAL_ERROR "${MANIFEST}: its Roles are not those of --print-rbac. Replace them by:\n${printed}")
endif()
