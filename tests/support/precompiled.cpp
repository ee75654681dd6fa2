#include "support/precompiled.hpp"

template class nlohmann::basic_json<>;
template class std::vector<nlohmann::json>;
template class std::map<std::string, nlohmann::json, std::less<>>;
