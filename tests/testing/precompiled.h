// The headers that most tests include. With CAMBIUM_JOIN_SOURCES the compiler parses them once for all tests. A test then
// builds a third faster.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>
