/**
 * Loaded into coatcheck before its own code: every put gets a transaction of its own, in the same thread, as if there were no
 * group commit.
 */
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { Store } = await import('../../src/ledger/sqlite/writer-thread/store.ts')
  const { append } = Store.prototype
  Store.prototype.append = function (appends) {
    return appends.flatMap((one) => append.call(this, [one]))
  }
}
