// SpaceShape: how much space an engine may take, and when it collects garbage in its log or blob files.
#pragma once

#include <string>

namespace cambium::bench {

struct SpaceShape {
  double max_space_amplification = 1.5;  // Cambium's; 0: no ceiling
  bool enable_blob_garbage_collection = true;
  double blob_garbage_collection_age_cutoff = 0.25;
  double blob_garbage_collection_force_threshold = 1.0;
  std::string value_clustering = "off";  // Cambium's
  bool cluster_values = false;           // for Cambium's CompactRange
};

}  // namespace cambium::bench
