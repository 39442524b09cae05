// What most tests include, parsed once for all of them: a third of the time that their build takes. Each test names its
// own headers too, so that -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds them as well.
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
