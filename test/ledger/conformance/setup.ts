// What the parts of the conformance suite share: a ledger in a new folder for each test.
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { Ledger, LedgerPolicy, Put, Result, RunRef } from '../../../src/ledger/ledger.ts'
import { NOW, POLICY, RUN, temporaryFolder } from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'

export interface Subject {
  readonly ledger: Ledger
  /** Closes it and opens it again. */
  reopen(policy?: Partial<LedgerPolicy>): Promise<void>
  /** Keeps what must be kept, and returns the result. */
  keep(put: Put, at?: { readonly ref?: RunRef; readonly now?: number }): Promise<Result>
}

/** Call it inside a `describe`; the subject's ledger is there once a test runs. */
export function subjectOf(open: Open): Subject {
  let ledger: Ledger
  let folder: ReturnType<typeof temporaryFolder>
  const start = async (policy: Partial<LedgerPolicy> = {}): Promise<void> => {
    ledger = await open(join(folder.path, 'ledger.db'), { ...POLICY, ...policy })
  }
  beforeEach(async () => {
    folder = temporaryFolder()
    await start()
  })
  afterEach(async () => {
    await ledger.close()
    folder.remove()
  })
  return {
    get ledger() {
      return ledger
    },
    async reopen(policy) {
      await ledger.close()
      await start(policy)
    },
    async keep(put, { ref = RUN, now = NOW } = {}) {
      return (await ledger.append(ref, put, now)).result
    },
  }
}
