"""The enumerations of options and events."""

from __future__ import annotations

import enum


class _TextEnum(enum.Enum):
    """An option's legal texts: the value is the text."""


class WalRecoveryMode(_TextEnum):
    TOLERATE_CORRUPTED_TAIL_RECORDS = "kTolerateCorruptedTailRecords"
    ABSOLUTE_CONSISTENCY = "kAbsoluteConsistency"
    POINT_IN_TIME_RECOVERY = "kPointInTimeRecovery"
    SKIP_ANY_CORRUPTED_RECORDS = "kSkipAnyCorruptedRecords"  #: not supported by the library


class IndexType(_TextEnum):
    BTREE = "kBTree"
    LSM = "kLsm"


class CompressionType(_TextEnum):
    NONE = "kNoCompression"
    LZ4 = "kLZ4Compression"
    ZSTD = "kZSTD"
    SNAPPY = "kSnappyCompression"  #: not supported by the library


class CompactionStyle(_TextEnum):
    LEVEL = "kCompactionStyleLevel"
    LAZY_LEVEL = "kCompactionStyleLazyLevel"


class ValueClustering(_TextEnum):
    OFF = "off"
    AUTO = "auto"
    FULL = "full"


class BlobGcPolicy(enum.IntEnum):
    FORCE = 0
    DISABLE = 1
    USE_DEFAULT = 2


class TraceFilter(enum.IntFlag):
    """Operations that a trace leaves out."""

    NONE = 0
    GET = 1
    WRITE = 2
    ITERATOR_SEEK = 4
    ITERATOR_SEEK_FOR_PREV = 8
    MULTI_GET = 16


class LogLevel(enum.IntEnum):
    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3


class FlushReason(enum.IntEnum):
    WRITE_BUFFER_FULL = 0
    WAL_FULL = 1
    MANUAL_FLUSH = 2
    SPACE = 3
    IDLE = 4
    RECOVERY = 5
    WRITE_BUFFER_MANAGER = 6


class CompactionReason(enum.IntEnum):
    SWEEP = 0
    LEVELS = 1
    MANUAL_COMPACTION = 2
    SPACE = 3


class LogGcReason(enum.IntEnum):
    GARBAGE = 0
    FORCED = 1
    SMALL_SEGMENTS = 2
    SPACE = 3
    MANUAL_COMPACTION = 4
    CLUSTERING = 5


class TableFileReason(enum.IntEnum):
    FLUSH = 0
    COMPACTION = 1
    LOG_GC = 4
    SNAPSHOT = 5


class BlobFileReason(enum.IntEnum):
    LOG = 0
    LARGE_VALUE = 1
    LOG_GC = 2
    COMPACTION_FILTER = 3


class WriteStallCondition(enum.IntEnum):
    NORMAL = 0
    DELAYED = 1
    STOPPED = 2


class WriteStallCause(enum.IntEnum):
    MEMTABLE_LIMIT = 0
    L0_FILE_COUNT_LIMIT = 1
    SPACE = 2
    WRITE_BUFFER_MANAGER_LIMIT = 3


class BackgroundErrorReason(enum.IntEnum):
    FLUSH = 0
    COMPACTION = 1
    LOG_GC = 2
    FILES = 3
    MANIFEST_WRITE = 4
    WRITE = 5
