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
  run.number = 5;
  family.level_runs[5].info = run;
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

TEST(ReservedCodesTest, ADatabaseHasADefaultFamily) {
  ManifestState state = StateOfThisVersion();
  state.families.clear();
  EXPECT_TRUE(CheckUnderstood("/db", state).IsCorruption());
}

TEST(ReservedCodesTest, KindsOfLaterVersionsAreNotSupported) {
  ManifestState state = StateOfThisVersion();
  state.families[0].runs[0].kind = RunKind::kRelocation;
  EXPECT_TRUE(CheckUnderstood("/db", state).IsNotSupported());
  ManifestState moved = StateOfThisVersion();
  moved.families[0].level_runs[5].info.kind = RunKind::kRelocation;
  EXPECT_TRUE(CheckUnderstood("/db", moved).IsNotSupported());
  ManifestState relocated = StateOfThisVersion();
  relocated.segments[3].kind = SegmentKind::kRelocation;
  EXPECT_TRUE(CheckUnderstood("/db", relocated).IsNotSupported());
}

}  // namespace
}  // namespace cambium
