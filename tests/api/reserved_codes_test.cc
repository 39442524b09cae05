// What later versions may write is well-formed and refused, not read as something it is not.
#include <gtest/gtest.h>

#include "api/open_files.h"
#include "manifest/state.h"

namespace cambium {
namespace {

ManifestState StateOfThisVersion() {
  ManifestState state;
  FamilyState family;
  family.name = "default";
  RunInfo run;
  run.number = 2;
  family.runs.push_back(run);
  state.families[0] = family;
  SegmentInfo log;
  log.number = 3;
  state.segments[3] = log;
  SegmentInfo large;
  large.number = 4;
  large.kind = SegmentKind::kLargeValue;
  state.segments[4] = large;
  return state;
}

TEST(ReservedCodesTest, WhatThisVersionWritesIsUnderstood) {
  const Status s = CheckUnderstood("/db", StateOfThisVersion());
  EXPECT_TRUE(s.ok()) << s.ToString();
}

TEST(ReservedCodesTest, KindsOfLaterVersionsAreNotSupported) {
  for (const RunKind kind : {RunKind::kMerge, RunKind::kRelocation}) {
    ManifestState state = StateOfThisVersion();
    state.families[0].runs[0].kind = kind;
    EXPECT_TRUE(CheckUnderstood("/db", state).IsNotSupported());
  }
  ManifestState relocated = StateOfThisVersion();
  relocated.segments[3].kind = SegmentKind::kRelocation;
  EXPECT_TRUE(CheckUnderstood("/db", relocated).IsNotSupported());

  ManifestState lsm = StateOfThisVersion();
  lsm.families[0].index_type = IndexType::kLsm;
  EXPECT_TRUE(CheckUnderstood("/db", lsm).IsNotSupported());

  ManifestState families = StateOfThisVersion();
  families.families[1] = families.families[0];
  EXPECT_TRUE(CheckUnderstood("/db", families).IsNotSupported());
}

}  // namespace
}  // namespace cambium
