#pragma once

#include "manager_fixture.hpp"

namespace kopp {

/// Tests of controllers in a running Manager.
class ControllerTest : public ManagerTest {};

}  // namespace kopp
