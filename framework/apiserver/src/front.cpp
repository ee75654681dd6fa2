#include "front.hpp"

namespace kopp::apiserver {

class Front::Impl {};

Front::Front(World&, Answerer&, Uptime&, const testing::ListenOptions&) {}

Front::~Front() = default;

Config Front::ConfigFor(const User&) { return {}; }

Config Front::ConfigWithCertificate(const User&) { return {}; }

}  // namespace kopp::apiserver
