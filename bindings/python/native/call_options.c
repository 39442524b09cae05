/* Options of reads and writes. One thread at a time may use such an object, so a call takes it out of its slot. */
#include "core.h"

static cambium_readoptions_t* read_slots[16];
static cambium_writeoptions_t* write_slots[8];

ReadOptions read_options_take(const ReadFlags* flags, const SnapshotObject* snapshot) {
  ReadOptions options = {NULL, -1};
  if (snapshot == NULL && flags->async_io) {
    options.slot = (flags->verify_checksums ? 1 : 0) | (flags->fill_cache ? 2 : 0) |
                   (flags->pin_mapped_values ? 4 : 0) | (flags->durable_only ? 8 : 0);
    options.rep = read_slots[options.slot];
    read_slots[options.slot] = NULL;
    if (options.rep != NULL) return options;
  }
  options.rep = cambium_readoptions_create();
  cambium_readoptions_set_verify_checksums(options.rep, flags->verify_checksums);
  cambium_readoptions_set_fill_cache(options.rep, flags->fill_cache);
  cambium_readoptions_set_async_io(options.rep, flags->async_io);
  cambium_readoptions_set_pin_mapped_values(options.rep, flags->pin_mapped_values);
  cambium_readoptions_set_durable_only(options.rep, flags->durable_only);
  if (snapshot != NULL) cambium_readoptions_set_snapshot(options.rep, snapshot->rep);
  return options;
}

void read_options_give(ReadOptions options) {
  if (options.slot >= 0 && read_slots[options.slot] == NULL) {
    read_slots[options.slot] = options.rep;
  } else {
    cambium_readoptions_destroy(options.rep);
  }
}

WriteOptions write_options_take(const WriteFlags* flags) {
  WriteOptions options;
  options.slot = (flags->sync ? 1 : 0) | (flags->disable_wal ? 2 : 0) | (flags->no_slowdown ? 4 : 0);
  options.rep = write_slots[options.slot];
  write_slots[options.slot] = NULL;
  if (options.rep != NULL) return options;
  options.rep = cambium_writeoptions_create();
  cambium_writeoptions_set_sync(options.rep, flags->sync);
  cambium_writeoptions_disable_WAL(options.rep, flags->disable_wal);
  cambium_writeoptions_set_no_slowdown(options.rep, flags->no_slowdown);
  return options;
}

void write_options_give(WriteOptions options) {
  if (write_slots[options.slot] == NULL) {
    write_slots[options.slot] = options.rep;
  } else {
    cambium_writeoptions_destroy(options.rep);
  }
}
