package cambium

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// setAll calls every function that sets one option.
func setAll(o *Options) *Options {
	return o.SetCreateIfMissing(true).SetCreateMissingColumnFamilies(true).SetErrorIfExists(true).
		SetRecoveryMode(PointInTimeRecovery).SetLockWait(7 * time.Microsecond).SetPageCacheSize(1 << 20).
		SetDBWriteBufferSize(1 << 21).SetMaxTotalWALSize(1 << 22).SetMaxSpaceAmplification(2.5).SetMinSpaceLimit(5).
		SetMinPunchSize(1 << 13).SetAllowMmapReads(false).SetMaxOpenFiles(100).SetMaxBackgroundJobs(3).
		SetIndexType(LSM).SetPageSize(8192).SetFilterBitsPerKey(11).SetWriteBufferSize(1 << 23).
		SetMaxWriteBufferNumber(4).SetEnableBlobFiles(false).SetMinBlobSize(600).SetLargeValueSize(1 << 23).
		SetBlobCompression(ZSTDCompression).SetBlobFileSize(1 << 25).SetValueClustering(ClusteringAuto).
		SetEnableBlobGC(false).SetBlobGCAgeCutoff(0.5).SetBlobGCForceThreshold(0.75).SetSweepRatio(9).
		SetCompactionStyle(LazyLevelCompaction).SetLevel0FileNumCompactionTrigger(5).
		SetLevel0SlowdownWritesTrigger(21).SetLevel0StopWritesTrigger(37).SetTargetFileSizeBase(1 << 25).
		SetTargetFileSizeMultiplier(2).SetMaxBytesForLevelBase(1 << 27).SetMaxBytesForLevelMultiplier(11).
		SetNumLevels(8).SetCompression(LZ4Compression)
}

// Every option that the library has as text has a function, and the library takes its value.
func TestEveryOptionCanBeSet(t *testing.T) {
	set := setAll(NewOptions())
	defaults, err := NewOptions().Resolve()
	must(t, err)
	if len(defaults) < 35 {
		t.Fatalf("the library has %d options: %v", len(defaults), defaults)
	}
	resolved, err := set.Resolve()
	must(t, err)
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if name == "comparator" {
			continue // an object here
		}
		if _, isSet := set.Text(name); !isSet {
			t.Errorf("no function sets %s", name)
		}
		if resolved[name] == defaults[name] {
			t.Errorf("%s is still %s", name, defaults[name])
		}
	}
	for name := range set.texts {
		if _, found := defaults[name]; !found {
			t.Errorf("the library has no option %s", name)
		}
	}
	if resolved["max_space_amplification"] != "2.5" || resolved["compression"] != string(LZ4Compression) ||
		resolved["wal_recovery_mode"] != string(PointInTimeRecovery) {
		t.Errorf("wrong values: %v", resolved)
	}
}

// The values of enumerations are those of the library.
func TestEnumerations(t *testing.T) {
	for _, o := range []*Options{
		NewOptions().SetIndexType(BTree), NewOptions().SetIndexType(LSM),
		NewOptions().SetCompression(NoCompression), NewOptions().SetBlobCompression(LZ4Compression),
		NewOptions().SetRecoveryMode(TolerateCorruptedTailRecords), NewOptions().SetRecoveryMode(AbsoluteConsistency),
		NewOptions().SetValueClustering(ClusteringOff), NewOptions().SetValueClustering(ClusteringFull),
		NewOptions().SetCompactionStyle(LevelCompaction),
	} {
		resolved, err := o.Resolve()
		must(t, err)
		for name, text := range o.texts {
			if resolved[name] != text {
				t.Errorf("%s is %s, not %s", name, resolved[name], text)
			}
		}
	}
}

func TestOptionsAsText(t *testing.T) {
	o, err := ParseOptions("write_buffer_size=16M; compression = {kZSTD}")
	must(t, err)
	if text, isSet := o.Text("write_buffer_size"); !isSet || text != "16M" {
		t.Fatalf("write_buffer_size is %q", text)
	}
	if o.String() != "compression=kZSTD;write_buffer_size=16M" {
		t.Fatalf("the text is %q", o)
	}
	resolved, err := o.Resolve()
	must(t, err)
	if resolved["write_buffer_size"] != "16777216" {
		t.Fatalf("write_buffer_size is %q", resolved["write_buffer_size"])
	}
	for _, text := range []string{"no_such_option=1", "page_size", "page_size=x", "page_size=512;page_size=512"} {
		_, err = ParseOptions(text)
		wantErr(t, err, ErrInvalidArgument)
	}
	_, err = ParseOptions("a\x00=b")
	wantErr(t, err, ErrInvalidArgument)
	// A text cannot bring further options along.
	_, err = NewOptions().Set("page_size", "512;num_levels=3").Resolve()
	wantErr(t, err, ErrInvalidArgument)
	_, err = NewOptions().Set("page_size", "5\x0012").Resolve()
	wantErr(t, err, ErrInvalidArgument)
	_, err = Open(newPath(t), small().Set("sweep_ratio", "0"))
	wantErr(t, err, ErrInvalidArgument)
	_, err = Open(newPath(t), small().Set("blob_compression_type", "kSnappyCompression"))
	wantErr(t, err, ErrNotSupported)
}

func TestCloneOfOptions(t *testing.T) {
	one := small()
	two := one.Clone().SetPageSize(512)
	if _, isSet := one.Text("page_size"); isSet {
		t.Fatal("a clone shares its options")
	}
	if two.String() == one.String() || (*Options)(nil).Clone() == nil {
		t.Fatal("wrong clone")
	}
}

func TestRocksDBsDefaults(t *testing.T) {
	resolved, err := NewOptions().SetMinBlobSize(77).OptimizeForRocksDBCompatibility().Resolve()
	must(t, err)
	if resolved["max_write_buffer_number"] != "2" || resolved["min_blob_size"] != "77" ||
		resolved["enable_blob_files"] != "false" {
		t.Fatalf("the options are %v", resolved)
	}
}

func TestOptionsOfAnOpenDatabase(t *testing.T) {
	db := openNew(t, small().SetPageSize(8192))
	family, err := db.CreateFamily("x", NewOptions().SetMinBlobSize(100))
	must(t, err)
	must(t, db.SetOptions(map[string]string{"min_blob_size": "1K", "sweep_ratio": "5"}))
	must(t, db.SetDBOptions(map[string]string{"page_cache_size": "2M"}))
	must(t, family.SetOptions(map[string]string{"sweep_ratio": "6"}))
	wantErr(t, db.SetOptions(nil), ErrInvalidArgument)
	options, err := db.Options()
	must(t, err)
	of, err := family.Options()
	must(t, err)
	if options["min_blob_size"] != "1024" || options["sweep_ratio"] != "5" || options["page_size"] != "8192" ||
		options["page_cache_size"] != "2097152" || of["sweep_ratio"] != "6" || of["min_blob_size"] != "100" {
		t.Fatalf("the options are %v and %v", options, of)
	}
	wantErr(t, db.SetOptions(map[string]string{"page_size": "512"}), ErrInvalidArgument)
	wantErr(t, db.SetDBOptions(map[string]string{"no": "1"}), ErrInvalidArgument)
	wantErr(t, db.SetOptions(map[string]string{"a\x00": "1"}), ErrInvalidArgument)
	wantErr(t, db.SetOptions(map[string]string{"a": "\x00"}), ErrInvalidArgument)
}

func TestLoadLatestOptions(t *testing.T) {
	path := newPath(t)
	order := NewComparator("test.order ;=x", func(a, b []byte) int { return strings.Compare(string(a), string(b)) })
	db := openAt(t, path, small().SetSweepRatio(17))
	_, err := db.CreateFamily("x", NewOptions().SetComparator(order).SetMinBlobSize(99))
	must(t, err)
	must(t, db.Close())
	_, _, err = LoadLatestOptions(path, false)
	if err == nil {
		t.Fatal("a comparator that is not given is found")
	}
	options, families, err := LoadLatestOptions(path, true, order, BytewiseComparator)
	must(t, err)
	if text, _ := options.Text("sweep_ratio"); text != "17" {
		t.Fatalf("the options are %v", options)
	}
	if len(families) != 2 || families[1].Name != "x" || families[1].Options.comparator != order {
		t.Fatalf("the families are %v", families)
	}
	db, handles, err := OpenFamilies(path, options.SetErrorIfExists(false).SetLogger(LogError, DiscardLog), families)
	must(t, err)
	defer closeIt(t, db)
	its, err := handles[1].Options()
	must(t, err)
	if its["min_blob_size"] != "99" {
		t.Fatalf("min_blob_size is %s", its["min_blob_size"])
	}
	_, _, err = LoadLatestOptions(newPath(t), false)
	if err == nil {
		t.Fatal("options of no database")
	}
	_, _, err = LoadLatestOptions("a\x00", false)
	wantErr(t, err, ErrInvalidArgument)
	_, _, err = LoadLatestOptions(path, false, NewComparator("x", nil))
	wantErr(t, err, ErrInvalidArgument)
}

// The options that docs/OPTIONS.md lists can be set, if the document is there.
func TestDocumentedOptions(t *testing.T) {
	text, err := os.ReadFile("../../docs/OPTIONS.md")
	if err != nil {
		t.Skip(err)
	}
	document, _, _ := strings.Cut(string(text), "### ReadOptions")
	objects := []string{"write_buffer_manager", "rate_limiter", "file_system", "clock", "random_source", "executor",
		"info_log", "statistics", "listeners", "comparator", "compaction_filter", "compaction_filter_factory"}
	set := setAll(NewOptions())
	found := 0
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| [^|]+\\| [^|]*\\| (yes)? *\\|").
		FindAllStringSubmatch(document, -1) {
		found++
		if _, isSet := set.Text(row[1]); !isSet && !slices.Contains(objects, row[1]) {
			t.Errorf("no function sets %s", row[1])
		}
	}
	if found < 40 {
		t.Fatalf("the document has %d options", found)
	}
}
