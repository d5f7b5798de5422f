/** Opens a ledger in a SQLite file: starts the writer thread, then opens the reading connection. */
import { realpathSync } from 'node:fs'
import { CHUNK_CACHE_BYTES } from '../../core/limits.ts'
import type { Ledger, LedgerPolicy } from '../ledger.ts'
import type { Tell } from '../notice.ts'
import { openToRead } from './file/file.ts'
import { noticeOfModes } from './file/modes.ts'
import { SqliteLedger } from './ledger.ts'
import { ChunkCache } from './main-thread/chunk-cache.ts'
import { ReadFaults } from './main-thread/read-faults.ts'
import { Reader } from './main-thread/reader.ts'
import { type QueueLimits, Writes } from './main-thread/write-client.ts'
import { SentTouches } from './protocol/last-requests.ts'
import type { Commit } from './protocol/messages.ts'
import { startThread, type WriterPort } from './protocol/thread.ts'

/** Default bounds of the queue of puts: 4,096 puts, 64 MiB. */
const QUEUE_LIMITS: QueueLimits = { puts: 4_096, bytes: 67_108_864 }

const ignore = (): void => undefined

/** Options of a ledger in a SQLite file. */
export interface LedgerOptions {
  /** Called after each committed transaction of puts. */
  readonly onCommit?: (commit: Commit) => void
  /** Called for each notice to the operator. */
  readonly onNotice?: Tell
  /** Called once when the writer thread has ended by an uncaught error. Reads go on. */
  readonly onFault?: (cause: unknown) => void
  /** Bounds of the queue of puts. Beyond them a put is refused with `overloaded`. */
  readonly queue?: Partial<QueueLimits>
  /** Bytes of the cache of recently read chunks; 0 for no cache. */
  readonly cacheBytes?: number
  /**
   * Bytes of disk space that are reserved for purges and starts, see `file/room.ts`. 0 when absent,
   * which reserves none.
   */
  readonly reserveBytes?: number
}

/** Opens or creates the ledger at `path`. Throws the errors of `openFile` in `file/file.ts`. */
export function openSqliteLedger(
  path: string,
  policy: LedgerPolicy,
  options: LedgerOptions = {},
): Promise<Ledger> {
  return openWith(startThread({ path, policy, reserveBytes: options.reserveBytes ?? 0 }), {
    path,
    policy,
    options,
  })
}

/**
 * Opens the ledger with a writer that is being started. The ledger owns the writer: it has ended
 * when this throws, and when the ledger is closed.
 */
export async function openWith(
  port: WriterPort,
  how: {
    readonly path: string
    readonly policy: LedgerPolicy
    readonly options: LedgerOptions
  },
): Promise<Ledger> {
  const { onCommit = ignore, onNotice = ignore, onFault = ignore } = how.options
  const { queue, cacheBytes = CHUNK_CACHE_BYTES } = how.options
  const touches = new SentTouches()
  const limits = { ...QUEUE_LIMITS, ...queue }
  const faults = new ReadFaults(how.path)
  const judge = (error: unknown): Promise<unknown> => faults.judge(error)
  const writes = new Writes(port, { touches, limits, onCommit, onNotice, judge, onFault })
  try {
    await writes.opened()
  } catch (error) {
    await port.gone()
    throw error
  }
  try {
    const cache = new ChunkCache(cacheBytes)
    const reader = new Reader(openToRead(how.path), how.policy, { noted: touches, cache })
    const path = realpathSync(how.path)
    const modes = noticeOfModes(path)
    if (modes !== undefined) onNotice(modes)
    return new SqliteLedger(reader, writes, { touches, faults, path })
  } catch (error) {
    await writes.close()
    throw error
  }
}
