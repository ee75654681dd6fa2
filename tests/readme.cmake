# README shows the program EXAMPLE, letter by letter.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "```cpp\n${example}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show ${EXAMPLE} as it is: copy it there, between ```cpp and ```")
endif()
