#pragma once

/// Includes the definition of nlohmann::json, for programs that write objects as JSON. Other
/// headers of kopp only declare it, because its definition takes seconds to compile.

#include <nlohmann/json.hpp>
