# Checks that README.md contains the program EXAMPLE without changes.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "```cpp\n${example}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md differs from ${EXAMPLE}: copy the file into README.md between ```cpp and ```")
endif()
