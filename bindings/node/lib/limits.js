'use strict';

const { binding } = require('./binding');

/** Limits what background work of databases writes. Several databases may share it. */
class RateLimiter {
  constructor(bytesPerSecond, { refillPeriodMicros = 100000, fairness = 10 } = {}) {
    this.native = binding.newRateLimiter(bytesPerSecond, refillPeriodMicros, fairness);
    Object.defineProperty(this, 'native', { enumerable: false, writable: false });
  }

  get bytesPerSecond() {
    return binding.rateLimiterRate(this.native);
  }

  set bytesPerSecond(value) {
    binding.rateLimiterSetRate(this.native, value);
  }
}

/** One limit for the memory of memtables and filters of all databases that are opened with it. */
class WriteBufferManager {
  constructor(bufferSize, { allowStall = false } = {}) {
    this.native = binding.newWriteBufferManager(bufferSize, allowStall);
    Object.defineProperty(this, 'native', { enumerable: false, writable: false });
  }

  get enabled() {
    return binding.writeBufferManagerInfo(this.native).enabled === 1;
  }

  get bufferSize() {
    return binding.writeBufferManagerInfo(this.native).bufferSize;
  }

  set bufferSize(value) {
    binding.writeBufferManagerSetSize(this.native, value);
  }

  get memoryUsage() {
    return binding.writeBufferManagerInfo(this.native).memoryUsage;
  }

  get mutableMemtableMemoryUsage() {
    return binding.writeBufferManagerInfo(this.native).mutableMemtableMemoryUsage;
  }

  setAllowStall(value) {
    binding.writeBufferManagerSetAllowStall(this.native, value);
  }
}

module.exports = { RateLimiter, WriteBufferManager };
