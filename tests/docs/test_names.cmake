# Fails if PAGE names a test that does not exist in the folder TESTS, or fewer than LEAST tests.
#   cmake -DPAGE=features.md -DLEAST=50 -DTESTS=<folder> -P test_names.cmake
# A test is named `Suite.Name`, between backticks. Lines like "| … | `XTest.Y`, `XTest.Z` |".
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE sources ${TESTS}/*_test.cpp)
set(existing "")
foreach(source IN LISTS sources)
  file(READ ${source} text)
  string(REGEX MATCHALL "\n(TYPED_)?TEST[_FP]*\\([A-Za-z0-9]+,[ \n]+[A-Za-z0-9_]+\\)" tests "${text}")
  list(APPEND existing ${tests})
endforeach()
list(TRANSFORM existing
  REPLACE "\n[A-Z_]+\\(([A-Za-z0-9]+),[ \n]+([A-Za-z0-9_]+)\\)" "\\1.\\2")
# ctest's own tests, which are no C++.
file(GLOB_RECURSE lists ${TESTS}/CMakeLists.txt)
foreach(list IN LISTS lists)
  file(READ ${list} text)
  string(REGEX MATCHALL "add_test\\(NAME [A-Za-z0-9]+\\.[A-Za-z0-9_]+" tests "${text}")
  list(TRANSFORM tests REPLACE "add_test\\(NAME " "")
  list(APPEND existing ${tests})
endforeach()

file(READ ${PAGE} text)
string(REGEX MATCHALL "`[A-Za-z0-9]+Test\\.[A-Za-z0-9_]+`" named "${text}")
list(LENGTH named count)
if(count LESS LEAST)
  message(FATAL_ERROR "${PAGE} names ${count} tests only: are they written as `Suite.Name`?")
endif()
foreach(test IN LISTS named)
  string(REPLACE "`" "" test "${test}")
  if(NOT test IN_LIST existing)
    message(SEND_ERROR "${PAGE} names the test ${test}, which does not exist")
  endif()
endforeach()
