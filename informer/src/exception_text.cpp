#include <cstdlib>
#include <memory>
#include <string_view>
#include <typeinfo>

#include <cxxabi.h>

#include <kopp/informer/detail/exception_text.hpp>

namespace kopp::detail {

std::string Demangled(const char* name) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return text ? text.get() : name;
}

std::string ExceptionType(const std::exception& error) {
  std::string type = Demangled(typeid(error).name());
  if (type == "std::runtime_error" || type.starts_with("kopp::") || type == error.what()) return "";
  return type;
}

std::string ExceptionText(const std::exception& error) {
  const std::string type = ExceptionType(error);
  return type.empty() ? error.what() : type + ": " + error.what();
}

std::string ExceptionText(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return ExceptionText(exception);
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace kopp::detail
