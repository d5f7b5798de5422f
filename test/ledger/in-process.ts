// The writer in the thread of the test, behind the same messages as in its own: what it does to its connection can be
// steered, and seen by the coverage.
import { MessageChannel } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import type { Ledger, LedgerPolicy } from '../../src/ledger/ledger.ts'
import { openFile } from '../../src/ledger/sqlite/file/file.ts'
import { type LedgerOptions, openWith } from '../../src/ledger/sqlite/open.ts'
import type { FromWriter, ToWriter } from '../../src/ledger/sqlite/protocol/messages.ts'
import type { WriterPort } from '../../src/ledger/sqlite/protocol/thread.ts'
import { Store } from '../../src/ledger/sqlite/writer-thread/store.ts'
import { Writer } from '../../src/ledger/sqlite/writer-thread/write-loop.ts'
import { POLICY } from '../support/ledger.ts'

export interface InProcess {
  readonly ledger: Ledger
  /** The connection that writes. */
  readonly db: Database.Database
}

export async function openInProcess(
  path: string,
  { policy = POLICY, ...options }: LedgerOptions & { readonly policy?: LedgerPolicy } = {},
): Promise<InProcess> {
  const file = openFile(path)
  const { db } = file
  const port = portOf(new Store(file, policy))
  return { ledger: await openWith(port, { path, policy, options }), db }
}

function portOf(store: Store): WriterPort {
  const { port1: here, port2: there } = new MessageChannel()
  const gone = new Promise<void>((resolve) => here.once('close', resolve))
  const writer = new Writer(
    store,
    (message: FromWriter) => there.postMessage(message),
    () => there.close(),
  )
  there.on('message', (message: ToWriter) => writer.receive(message))
  there.postMessage({ opened: true } satisfies FromWriter)
  return {
    post: (message, transfer) => here.postMessage(message, transfer),
    listen: ({ message, ended }) => void here.on('message', message).on('close', ended),
    hold: () => here.ref(),
    release: () => here.unref(),
    gone: () => gone,
  }
}
