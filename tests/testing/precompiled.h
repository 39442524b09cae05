// What most tests include, parsed once for all of them where sanitizers are on: it is a third of what their build takes
// there.
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
