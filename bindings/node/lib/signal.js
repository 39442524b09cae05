'use strict';

// Starts a call unless `signal` is aborted; if it is aborted later, the promise is rejected at once. The call itself
// goes on: what it has begun to write is written.
function withSignal(signal, start) {
  if (signal === undefined || signal === null) return start();
  signal.throwIfAborted();
  const call = start();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

module.exports = { withSignal };
