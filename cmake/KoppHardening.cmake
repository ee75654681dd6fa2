# Compiler and linker flags that make memory errors harder to exploit. Included if KOPP_HARDENING is
# ON. Needs optimization: without it, _FORTIFY_SOURCE has no effect.
include(CheckPIESupported)
include(CheckCXXCompilerFlag)
check_pie_supported(LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # also links programs with -pie

add_compile_definitions($<$<NOT:$<CONFIG:Debug>>:_GLIBCXX_ASSERTIONS>)
# The compilers of some distributions define _FORTIFY_SOURCE already, with another value.
add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero)
  string(MAKE_C_IDENTIFIER "KOPP_HAS${flag}" supported)
  check_cxx_compiler_flag(${flag} ${supported})
  if(${supported}) # -fcf-protection is for x86 only
    add_compile_options(${flag})
  endif()
endforeach()
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
