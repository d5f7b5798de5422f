/**
 * Entry of the writer thread. It opens the ledger, reports that, and passes all messages to the
 * write loop. It decides nothing. The thread ends when the ledger is closed or could not be opened.
 * An uncaught error ends it too; the main thread then rejects all waiting calls.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { Tell } from '../../notice.ts'
import {
  type FromWriter,
  type ToWriter,
  toPlainError,
  type WriterData,
} from '../protocol/messages.ts'
import { openStore } from './store.ts'
import { Writer } from './write-loop.ts'

const post = (message: FromWriter): void => parentPort?.postMessage(message)
const tell: Tell = (notice) => post({ notice })

try {
  const { path, policy, reserveBytes } = workerData as WriterData
  const store = openStore(path, policy, { tell, reserveBytes })
  const writer = new Writer(store, post, () => parentPort?.close())
  parentPort?.on('message', (messages: readonly ToWriter[]) => {
    for (const message of messages) writer.receive(message)
  })
  parentPort?.on('messageerror', (error) => {
    throw error
  })
  post({ opened: true })
} catch (error) {
  post({ refused: toPlainError(error) })
}
