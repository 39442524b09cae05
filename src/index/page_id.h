#pragma once
#include "manifest/page_id.h"
