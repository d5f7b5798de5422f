// R10: the ledger, its log and its lock were made for every local user to read.
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Notice } from '../../../../src/ledger/notice.ts'
import { openLedger } from '../../../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN, temporaryFolder } from '../../../support/ledger.ts'

const MODE_BITS = 0o777

describe('the modes of the files of a ledger', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let umask: number
  beforeEach(() => {
    folder = temporaryFolder()
    umask = process.umask(0)
  })
  afterEach(() => {
    process.umask(umask)
    folder.remove()
  })
  const modeOf = (path: string): number => statSync(path).mode & MODE_BITS

  it('are for the owner alone, and so are those of the folders that are made for it', async () => {
    const made = join(folder.path, 'a', 'b')
    const notices: Notice[] = []
    const onNotice = (notice: Notice): void => void notices.push(notice)
    const ledger = await openLedger(join(made, 'ledger.db'), POLICY, { onNotice })
    await ledger.append(RUN, putText('kept'), NOW)
    const modes = Object.fromEntries(
      readdirSync(made).map((name) => [name, modeOf(join(made, name))]),
    )
    expect(modes).toMatchObject({
      'ledger.db': 0o600,
      'ledger.db-wal': 0o600,
      'ledger.db-shm': 0o600,
      'ledger.db.lock': 0o600,
    })
    expect(new Set(Object.values(modes))).toEqual(new Set([0o600]))
    expect([modeOf(made), modeOf(join(made, '..'))]).toEqual([0o700, 0o700])
    expect(notices).toEqual([])
    await ledger.close()
  })

  it('are told where they are wider, and are left as they are', async () => {
    const found = join(folder.path, 'shared')
    mkdirSync(found, 0o755)
    const path = join(found, 'ledger.db')
    await (await openLedger(path, POLICY)).close()
    chmodSync(path, 0o640)
    const notices: Notice[] = []
    const onNotice = (notice: Notice): void => void notices.push(notice)
    await (await openLedger(path, POLICY, { onNotice })).close()
    expect(notices).toEqual([
      {
        level: 'warn',
        message: expect.stringContaining('chmod 600'),
        facts: {
          wide: expect.arrayContaining([
            { path: found, mode: '0755' },
            { path, mode: '0640' },
          ]),
        },
      },
    ])
    expect(modeOf(path)).toBe(0o640)
  })
})
