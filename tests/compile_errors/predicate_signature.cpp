// error: PredicateOf<T>: the function must take const T& and return bool
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>

bool IsReady(const kopp::Pod& pod);

auto Ready() { return kopp::PredicateOf<kopp::Deployment>(IsReady); }
