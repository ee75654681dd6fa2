# Checks that everything that names the version of kopp names VERSION: the programs, the charts, the label of
# the image, and the newest release of the changelog.
#   cmake -DVERSION=0.1.0 -DSOURCE=<kopp> "-DPROGRAMS=<program>;…" -P version.cmake
cmake_minimum_required(VERSION 3.25)

# Reports `what` unless the first match of the regular expression `pattern` in `text` has VERSION as its group.
function(expect_version what text pattern)
  if(NOT text MATCHES "${pattern}")
    message(SEND_ERROR "${what} names no version")
  elseif(NOT CMAKE_MATCH_1 STREQUAL VERSION)
    message(SEND_ERROR "${what} has the version ${CMAKE_MATCH_1}, but the project ${VERSION}")
  endif()
endfunction()

set(number "([0-9]+[.][0-9]+[.][0-9]+)")
foreach(program IN LISTS PROGRAMS)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  expect_version("${program} --version" "${output}" "kopp ${number}\n$")
endforeach()

file(GLOB charts ${SOURCE}/charts/*/Chart.yaml)
if(NOT charts)
  message(SEND_ERROR "there are no charts in ${SOURCE}/charts")
endif()
foreach(chart IN LISTS charts)
  file(READ ${chart} text)
  expect_version("version of ${chart}" "${text}" "\nversion: ${number}\n")
  expect_version("appVersion of ${chart}" "${text}" "\nappVersion: \"${number}\"\n")
endforeach()
file(READ ${SOURCE}/charts/sample-controller/Chart.yaml text)
expect_version("the image of charts/sample-controller/Chart.yaml" "${text}"
  "image: sample-controller:${number}")
file(READ ${SOURCE}/Dockerfile text)
expect_version("the label of the Dockerfile" "${text}"
  "org[.]opencontainers[.]image[.]version=\"${number}\"")
file(READ ${SOURCE}/CHANGELOG.md text)
expect_version("the newest release of CHANGELOG.md" "${text}"
  "\n## ${number} — [0-9]+-[0-9][0-9]-[0-9][0-9]\n")
