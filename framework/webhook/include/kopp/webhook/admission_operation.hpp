#pragma once

#include <kopp/informer/fields.hpp>

namespace kopp {

/// What a request does with an object.
enum class AdmissionOperation { kCreate, kUpdate, kDelete, kConnect };
KOPP_ENUM(AdmissionOperation, (kCreate, "CREATE"), (kUpdate, "UPDATE"), (kDelete, "DELETE"),
          (kConnect, "CONNECT"))

}  // namespace kopp
