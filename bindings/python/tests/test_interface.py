"""Each function of the C interface is bound, or there is a reason why not."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parent.parent / "native"

# Patterns of functions that are not called, with the reason.
NOT_BOUND = {
    r"options_(set|get)_\w+": "options are set and read as text",
    r"(read|write|flush|compact|trace)options_get_\w+": "what was set is an argument of the same call",
    r"(get|put|delete|singledelete|delete_range|get_pinned|get_into_buffer|multi_get|flush|create_iterator"
    r"|property_\w+|set_options|get_options|compact_range|compact_range_opt|compact_range_cf|approximate_sizes|approximate_sizes_cf"
    r"|asyncreader_get|backup_engine_create_new_backup|close)": "another form of the function does the same",
    r"error_message": "an exception has the whole text",
    r"get_cf|compactionfilter_create|writebatch_iterate": "another form of the function does the same",
    r"writebatch_(put|delete|singledelete|delete_range)": "the form with a column family does the same",
    r"put_if_absent|compare_and_set|compare_and_delete": "the form with a column family does the same",
    r"writeconditions_(is_absent|has_value)": "the form with a column family does the same",
    r"create_iterators|asyncreader_multi_get_cf": "iterators or reads over one snapshot have the same state",
    r"column_family_handle_get_name": "the package keeps the name",
    r"compactionfilter_set_ignore_snapshots": "only the default is supported",
    r"compactionfilterfactory_destroy": "options own the factory",
    r"cache_\w+|filterpolicy_\w+": "page_cache_size and filter_bits_per_key are these options",
    r"create_default_env|env_\w+": "the only environment is the default",
    r"optimistictransactiondb_\w+|optimistictransaction_begin": "any database begins optimistic transactions",
    r"transactiondb_(?!open|as_db|options)\w+": "the object is that of any other database",
    r"transaction_options_set_deadlock_detect_depth": "only the default is supported",
    r"transactiondb_options_set_max_num_deadlocks": "no function lists deadlocks",
    r"\w*transaction(db)?_options_get_\w+": "what was set is an argument of the same call",
    r"transaction_(get|put|delete|singledelete|get_pinned|get_for_update|get_pinned_for_update|undo_get_for_update"
    r"|create_iterator|multi_get|multi_get_for_update)": "the form with a column family does the same",
    r"transaction_(get|get_for_update|multi_get|multi_get_for_update|singledelete)_cf": "others do the same",
    r"transaction_(track_range|get_range_lock|delete_range)(_cf)?": "transactions of the package have no ranges yet",
    r"get_with_version(_cf)?|(put|delete)_if_unchanged(_cf)?"
    r"|writeconditions_is_unchanged(_cf)?": "values of the package have no versions yet",
    r"transaction_(get_writebatch_wi|rebuild_from_writebatch_wi)": "the transaction itself does the same",
    r"writebatch_wi_(create|put|delete|singledelete|delete_range|get_from_batch|get_from_batch_and_db"
    r"|get_pinned_from_batch_and_db|create_iterator_with_base|create_iterator_with_base_readopts"
    r"|create_iterator_with_base_cf)": "another form of the function does the same",
    r"writebatch_wi_(singledelete_cf|get_from_batch_and_db_cf|iterate|data)": "others do the same",
}


def header() -> str:
    prefix = os.environ.get("CAMBIUM_PREFIX")
    if prefix is None:
        pytest.skip("CAMBIUM_PREFIX is not set")
    headers = Path(prefix) / "include" / "cambium"
    return (headers / "c.h").read_text() + (headers / "c_transaction.h").read_text()


def test_every_function_is_bound() -> None:
    declared = set(re.findall(r"\bcambium_(\w+)\(", header()))
    source = "".join(file.read_text() for file in NATIVE.iterdir() if file.suffix in (".c", ".h"))
    called = set(re.findall(r"\bcambium_(\w+)\b", source))
    # Getters of events are called through macros: TEXT(flushjobinfo, db_name).
    for kind, name in re.findall(r"\b(?:TEXT|NUMBER|INTEGER|TRUTH)\((\w+), (\w+)\)", source):
        called.add(f"{kind}_{name}")
    for kind, field, item in re.findall(r"\bFILES\((\w+), (\w+), (\w+)\)", source):
        called |= {f"{kind}_{field}_count", f"{kind}_{item}_at"}
    for kind in re.findall(r"\bSTATUS\((\w+)\)", source):
        called.add(f"{kind}_status")
    missing = {name for name in declared - called if not any(re.fullmatch(pattern, name) for pattern in NOT_BOUND)}
    assert missing == set()
    for pattern in NOT_BOUND:
        assert any(re.fullmatch(pattern, name) for name in declared - called), f"nothing to except: {pattern}"


def test_enumerations() -> None:
    """The numbers of the package's enumerations are those of the header."""
    from cambium import _enums

    constants = dict(re.findall(r"\bcambium_(\w+) = (\d+)", header()))
    prefixes = {
        _enums.BlobGcPolicy: "blob_gc_policy",
        _enums.LogLevel: "log",
        _enums.FlushReason: "flush_reason",
        _enums.CompactionReason: "compaction_reason",
        _enums.LogGcReason: "log_gc_reason",
        _enums.TableFileReason: "table_file_reason",
        _enums.BlobFileReason: "blob_file_reason",
        _enums.WriteStallCondition: "write_stall_condition",
        _enums.WriteStallCause: "write_stall_cause",
        _enums.BackgroundErrorReason: "background_error",
    }
    for enumeration, prefix in prefixes.items():
        expected = {name: int(number) for name, number in constants.items() if re.match(rf"{prefix}_[a-z0-9]+", name)}
        if prefix == "log":
            expected = {name: number for name, number in expected.items() if "gc" not in name}
        found = {f"{prefix}_{member.name.lower()}": member.value for member in enumeration}
        assert found == expected
    assert {f"trace_filter_{m.name.lower()}": m.value for m in _enums.TraceFilter if m.name and m.value} == {
        name.replace("multiget", "multi_get"): int(number)
        for name, number in constants.items()
        if name.startswith("trace_filter_") and int(number) > 0
    }
