// The headers that most tests include. With CAMBIUM_JOIN_SOURCES they are parsed once for all tests, which saves a third
// of their build time.
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
