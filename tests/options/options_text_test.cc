// Tests of options as text: a round trip preserves them, and an error names the mistake.
#include <gtest/gtest.h>

#include <cmath>

#include "options/option_table.h"
#include "options/options_check.h"
#include "options/options_text.h"
#include "options/random_options.h"
#include "cambium/convenience.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"

namespace cambium::testing {
namespace {

TEST(OptionsTextTest, ChangesOnlyTheNamedOptions) {
  Options base;
  base.max_write_buffer_number = 5;
  Options out;
  ASSERT_TRUE(GetOptionsFromString(base,
                                   " create_if_missing = true ;write_buffer_size=16M;;page_cache_size=1g;\n"
                                   "min_blob_size=2k; compression={kZSTD}; index_type=kLsm; sweep_ratio=12;"
                                   "max_bytes_for_level_multiplier=8.5;comparator=cambium.ReverseBytewiseComparator;"
                                   "target_file_size_base=1T;wal_recovery_mode=kAbsoluteConsistency;"
                                   "enable_blob_files=0;",
                                   &out)
                  .ok());
  EXPECT_TRUE(out.create_if_missing);
  EXPECT_EQ(out.write_buffer_size, 16u << 20);
  EXPECT_EQ(out.page_cache_size, 1u << 30);
  EXPECT_EQ(out.min_blob_size, 2048u);
  EXPECT_EQ(out.compression, CompressionType::kZSTD);
  EXPECT_EQ(out.index_type, IndexKind::kLsm);
  EXPECT_EQ(out.sweep_ratio, 12);
  EXPECT_EQ(out.max_bytes_for_level_multiplier, 8.5);
  EXPECT_EQ(out.comparator, ReverseBytewiseComparator());
  EXPECT_EQ(out.target_file_size_base, 1ull << 40);
  EXPECT_EQ(out.wal_recovery_mode, WALRecoveryMode::kAbsoluteConsistency);
  EXPECT_FALSE(out.enable_blob_files);
  EXPECT_EQ(out.max_write_buffer_number, 5);
  EXPECT_EQ(out.num_levels, 7);
  Options same;
  ASSERT_TRUE(GetOptionsFromString(base, " ; ", &same).ok());
  EXPECT_EQ(TextOf<ColumnFamilyOptions>(same), TextOf<ColumnFamilyOptions>(base));
}

TEST(OptionsTextTest, ErrorNamesTheMistakeAndChangesNothing) {
  const struct {
    const char* text;
    std::vector<const char*> says;
    Status::Code code = Status::Code::kInvalidArgument;
  } kCases[] = {
      {"write_buffer_size=abc", {"write_buffer_size", "\"abc\"", "4096 to 17179869184"}},
      {"write_buffer_size=", {"write_buffer_size", "4096 to 17179869184"}},
      {"write_buffer_size=-1", {"write_buffer_size", "\"-1\"", "4096 to 17179869184"}},
      {"write_buffer_size=1KB", {"write_buffer_size", "\"1KB\""}},
      {"write_buffer_size=1.5M", {"write_buffer_size", "\"1.5M\""}},
      {"write_buffer_size=99999999999999999999", {"write_buffer_size", "\"99999999999999999999\"", "17179869184"}},
      {"write_buffer_size=99999999T", {"write_buffer_size", "\"99999999T\"", "17179869184"}},
      {"write_buffer_size=1K", {"write_buffer_size", "1024", "4096 to 17179869184"}},
      {"sweep_ratio=0", {"sweep_ratio", "is 0", "1 to 1000"}},
      {"sweep_ratio=4G", {"sweep_ratio", "\"4G\"", "1 to 1000"}},
      {"max_total_wal_size=1", {"max_total_wal_size", "is 1", "0, or 4096 to 1099511627776"}},
      {"max_bytes_for_level_multiplier=nan", {"max_bytes_for_level_multiplier", "nan", "1.0"}},
      {"max_bytes_for_level_multiplier=x", {"max_bytes_for_level_multiplier", "\"x\"", "1.0"}},
      {"create_if_missing=yes", {"create_if_missing", "\"yes\"", "true or false"}},
      {"compression=zstd", {"compression", "\"zstd\"", "kZSTD"}},
      {"compression=kSnappyCompression",
       {"compression is kSnappyCompression;", "kLZ4Compression"},
       Status::Code::kNotSupported},
      {"index_type=7", {"index_type", "\"7\"", "kBTree, kLsm"}},
      {"compaction_style=kCompactionStyleFIFO", {"compaction_style", "kCompactionStyleLazyLevel"}},
      {"wal_recovery_mode=kSkipAnyCorruptedRecords", {"wal_recovery_mode"}, Status::Code::kNotSupported},
      {"comparator=mine", {"comparator", "\"mine\"", "cambium.BytewiseComparator"}},
      {"comparator=\\x4", {"comparator", "name of a comparator"}},
      {"level0_slowdown_writes_trigger=2", {"level0_slowdown_writes_trigger", "is 2", "4 to 10000"}},
      {"page_size=5000", {"page_size", "5000", "power of two"}},
      {"file_system=posix", {"file_system", "object"}},
      {"info_log=nullptr", {"info_log", "object"}},
      {"no_such_option=1", {"no_such_option"}},
      {"write_buffer_size", {"write_buffer_size", "name=value"}},
      {"create_if_missing;sweep_ratio=3", {"create_if_missing", "name=value"}},
      {"=3", {"\"\""}},
      {"sweep_ratio=3;sweep_ratio=4", {"sweep_ratio", "twice"}},
      {"compression={kZSTD", {"compression", "'{'"}},
      {"compression=kZSTD}", {"compression", "'}'"}},
      {"compression={kZSTD}x", {"compression", "'}'"}},
  };
  for (const auto& c : kCases) {
    Options out;
    out.sweep_ratio = 77;
    const Status s = GetOptionsFromString({}, c.text, &out);
    EXPECT_EQ(s.code(), c.code) << c.text << ": " << s.ToString();
    for (const char* const part : c.says) {
      EXPECT_NE(s.ToString().find(part), std::string::npos) << c.text << ": " << s.ToString();
    }
    EXPECT_EQ(out.sweep_ratio, 77) << c.text;
  }
  DBOptions db;
  Status s = GetDBOptionsFromString({}, "sweep_ratio=3", &db);
  EXPECT_EQ(s.ToString(), "Invalid argument: sweep_ratio is an option of a column family, not of the database");
  ColumnFamilyOptions family;
  s = GetColumnFamilyOptionsFromString({}, "create_if_missing=true", &family);
  EXPECT_EQ(s.ToString(), "Invalid argument: create_if_missing is an option of the database, not of a column family");
}

// Gives every option with a text form a random legal value, formats it and parses it back.
TEST(OptionsTextTest, RandomOptionsAreReadBackFromText) {
  const std::uint64_t seed = SeedFromEnvironment(0x0971);
  Prng prng(seed);
  for (std::uint64_t i = 0; i < ScaledCount(300); ++i) {
    const auto db = RandomOptions<DBOptions>(prng);
    const auto family = RandomOptions<ColumnFamilyOptions>(prng);
    std::string text;
    ASSERT_TRUE(GetStringFromDBOptions(&text, db).ok());
    DBOptions db_again;
    Status s = GetDBOptionsFromString({}, text, &db_again);
    ASSERT_TRUE(s.ok()) << text << ": " << s.ToString();
    EXPECT_TRUE(SameOptions(db, db_again)) << text;
    ASSERT_TRUE(GetStringFromColumnFamilyOptions(&text, family, prng.OneIn(2) ? ";" : ";  \n").ok());
    ColumnFamilyOptions family_again;
    s = GetColumnFamilyOptionsFromString({}, text, &family_again);
    ASSERT_TRUE(s.ok()) << text << ": " << s.ToString();
    EXPECT_TRUE(SameOptions(family, family_again)) << text;
    Options both_again;
    ASSERT_TRUE(GetOptionsFromString(Options(db, family), "", &both_again).ok());
    EXPECT_TRUE(SameOptions<ColumnFamilyOptions>(family, both_again));
  }
}

class OddName final : public Comparator {
 public:
  explicit OddName(std::string name) : name_(std::move(name)) {}
  int Compare(Slice a, Slice b) const override { return a.compare(b); }
  const char* Name() const override { return name_.c_str(); }

 private:
  const std::string name_;
};

TEST(OptionsTextTest, CustomComparatorOfAnyNameIsTakenFromBaseOptions) {
  for (const char* const name :
       {"mine", "a;b=c", " {}#\"\\ ", "line\nand\ttab\x01\x7f", "gr\xc3\xb6\xc3\x9f" "e", "{", "[x]"}) {
    const OddName comparator{name};
    ColumnFamilyOptions base;
    base.comparator = &comparator;
    std::string text;
    ASSERT_TRUE(GetStringFromColumnFamilyOptions(&text, base).ok());
    EXPECT_EQ(text.find('\n'), std::string::npos);
    ColumnFamilyOptions out;
    EXPECT_TRUE(GetColumnFamilyOptionsFromString({}, text, &out).IsInvalidArgument()) << text;
    const Status s = GetColumnFamilyOptionsFromString(base, text, &out);
    ASSERT_TRUE(s.ok()) << text << ": " << s.ToString();
    EXPECT_EQ(out.comparator, &comparator);
  }
}

TEST(OptionsTextTest, EscapesAreReadBackAndBrokenOnesRejected) {
  Prng prng(SeedFromEnvironment(0xe5c));
  std::string back;
  for (int i = 0; i < 500; ++i) {
    const std::string bytes = prng.Bytes(prng.Uniform(20));
    const std::string text = EscapeText(bytes);
    ASSERT_TRUE(UnescapeText(text, &back)) << text;
    ASSERT_EQ(back, bytes);
    ASSERT_EQ(Trimmed(text), Slice(text));
  }
  for (const char* const text : {"\\", "\\x", "\\x1", "\\x1g", "\\n", "a\\x-1", "\\x 1", "\\X41"}) {
    EXPECT_FALSE(UnescapeText(text, &back)) << text;
  }
}

// Damaged text yields an error or legal options.
TEST(OptionsTextTest, AnyTextIsAnErrorOrLegalOptions) {
  const std::uint64_t seed = SeedFromEnvironment(0xf22);
  Prng prng(seed);
  std::string legal;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&legal, {}).ok());
  for (std::uint64_t i = 0; i < ScaledCount(3000); ++i) {
    std::string text = legal;
    for (std::uint64_t n = prng.Uniform(6); n > 0; --n) {
      const std::size_t at = prng.Uniform(text.size());
      switch (prng.Uniform(3)) {
        case 0: text[at] = "=;{}\\ 09KTkx\n"[prng.Uniform(13)]; break;
        case 1: text.erase(at, prng.Uniform(10)); break;
        default: text.insert(at, 1, static_cast<char>(prng.Uniform(256)));
      }
    }
    ColumnFamilyOptions out;
    const Status s = GetColumnFamilyOptionsFromString({}, text, &out);
    if (s.ok()) {
      EXPECT_TRUE(CheckColumnFamilyOptions(out).ok()) << text;
    } else {
      EXPECT_TRUE(s.IsInvalidArgument() || s.IsNotSupported()) << s.ToString();
    }
  }
}

}  // namespace
}  // namespace cambium::testing
