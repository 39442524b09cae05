// IOStatus, which is the same as Status here.
#pragma once

#include "cambium/rocksdb_names/rocksdb/status.h"
