import { describe, expect, it } from 'vitest'
import { FreeDiskWarning } from '../../src/ledger/disk-watch.ts'

describe('a warning of little room', () => {
  // R5: a disk ran full without a word
  it('is told once for each time that the room sinks below the bound', () => {
    const warning = new FreeDiskWarning(1_000)
    const told = [2_000, 1_000, 999, 500, 1_050, 999, 1_100, 999, 0].map(
      (bytes) => warning.see(bytes) !== undefined,
    )
    expect(told).toEqual([false, false, true, false, false, false, false, true, false])
    expect(new FreeDiskWarning(1_000).see(1)).toMatchObject({
      level: 'warn',
      facts: { free_disk_bytes: 1, warn_bytes: 1_000 },
    })
  })

  it('is never told with a bound of 0', () => {
    expect(new FreeDiskWarning(0).see(0)).toBeUndefined()
  })
})
