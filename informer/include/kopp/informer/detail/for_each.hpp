#pragma once
#pragma GCC system_header  // see fields.hpp

/// KOPP_FOR_EACH(macro, context, a, b) expands to macro(context, a) macro(context, b), for up to
/// 256 arguments. Each step has a macro of its own, because a macro does not expand inside itself.
/// Only a list of more than 16 arguments starts again at the first step.
#define KOPP_FOR_EACH(macro, context, ...) \
  __VA_OPT__(KOPP_EXPAND16(KOPP_EACH_1(macro, context, __VA_ARGS__)))

#define KOPP_PARENS ()
#define KOPP_EXPAND16(...) KOPP_EXPAND4(KOPP_EXPAND4(KOPP_EXPAND4(KOPP_EXPAND4(__VA_ARGS__))))
#define KOPP_EXPAND4(...) KOPP_EXPAND1(KOPP_EXPAND1(KOPP_EXPAND1(KOPP_EXPAND1(__VA_ARGS__))))
#define KOPP_EXPAND1(...) __VA_ARGS__

#define KOPP_EACH_1(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_2(m, c, __VA_ARGS__))
#define KOPP_EACH_2(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_3(m, c, __VA_ARGS__))
#define KOPP_EACH_3(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_4(m, c, __VA_ARGS__))
#define KOPP_EACH_4(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_5(m, c, __VA_ARGS__))
#define KOPP_EACH_5(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_6(m, c, __VA_ARGS__))
#define KOPP_EACH_6(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_7(m, c, __VA_ARGS__))
#define KOPP_EACH_7(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_8(m, c, __VA_ARGS__))
#define KOPP_EACH_8(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_9(m, c, __VA_ARGS__))
#define KOPP_EACH_9(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_10(m, c, __VA_ARGS__))
#define KOPP_EACH_10(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_11(m, c, __VA_ARGS__))
#define KOPP_EACH_11(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_12(m, c, __VA_ARGS__))
#define KOPP_EACH_12(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_13(m, c, __VA_ARGS__))
#define KOPP_EACH_13(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_14(m, c, __VA_ARGS__))
#define KOPP_EACH_14(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_15(m, c, __VA_ARGS__))
#define KOPP_EACH_15(m, c, x, ...) m(c, x) __VA_OPT__(KOPP_EACH_16(m, c, __VA_ARGS__))
#define KOPP_EACH_16(m, c, x, ...) \
  m(c, x) __VA_OPT__(KOPP_EACH_AGAIN KOPP_PARENS(m, c, __VA_ARGS__))
#define KOPP_EACH_AGAIN() KOPP_EACH_1
