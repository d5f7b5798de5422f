import { describe, expect, it } from 'vitest'
import { SteadyClock } from '../../src/ledger/clock.ts'
import type { Notice } from '../../src/ledger/notice.ts'
import { isStartInDoubt } from '../../src/ledger/start-time.ts'

const START = 1_800_000_000_000
const MINUTE = 60_000
const HOUR = 3_600_000
const YEAR = 31_536_000_000

/** A machine whose clock can be set, while time passes all the same. */
function machine(holdMs = HOUR) {
  const notices: Notice[] = []
  let passed = 0
  let set = 0
  const clock = new SteadyClock({
    wall: () => START + passed + set,
    monotonic: () => passed,
    holdMs,
    tell: (notice) => void notices.push(notice),
  })
  return {
    clock,
    told: () => notices.splice(0).map(({ message }) => message),
    pass: (ms: number) => {
      passed += ms
      return clock.now() - START
    },
    setBy: (ms: number) => {
      set += ms
      return clock.now() - START
    },
  }
}

describe('the time that runs are judged by', () => {
  it('is that of the machine, which may be set by less than a minute', () => {
    const { pass, setBy, told, clock } = machine()
    expect(pass(5 * HOUR)).toBe(5 * HOUR)
    expect(setBy(30_000)).toBe(5 * HOUR + 30_000)
    expect(setBy(-30_000)).toBe(5 * HOUR)
    expect([told(), clock.offsetSeconds()]).toEqual([[], 0])
  })

  it.each([YEAR, -YEAR])(
    'goes on as before when the clock is wrong for a minute: %i ms',
    (jump) => {
      const { pass, setBy, told, clock } = machine()
      expect(setBy(jump)).toBe(0)
      expect(pass(MINUTE)).toBe(MINUTE)
      expect(clock.offsetSeconds()).toBe(jump / 1000)
      expect(told()).toEqual([expect.stringContaining('has jumped 31536000 seconds')])
      expect(setBy(-jump)).toBe(MINUTE)
      expect(told()).toEqual(["the machine's clock is back where it was"])
      expect([pass(HOUR), clock.offsetSeconds(), told()]).toEqual([MINUTE + HOUR, 0, []])
    },
  )

  it('follows a clock that stays where it is, and begins again when it jumps once more', () => {
    const { pass, setBy, told } = machine()
    setBy(YEAR)
    expect(pass(HOUR - 1)).toBe(HOUR - 1)
    expect(setBy(YEAR)).toBe(HOUR - 1)
    expect(pass(HOUR - 1)).toBe(2 * HOUR - 2)
    expect(told()).toHaveLength(2)
    expect(pass(1)).toBe(2 * HOUR - 1 + 2 * YEAR)
    expect(told()).toEqual([expect.stringContaining('is followed now')])
    expect(pass(1)).toBe(2 * HOUR + 2 * YEAR)
  })

  it('follows every jump at once where nothing is held, or the start was in doubt', () => {
    const { setBy } = machine(0)
    expect(setBy(YEAR)).toBe(YEAR)
    const other = machine()
    other.clock.distrustStart()
    expect(other.setBy(-YEAR)).toBe(-YEAR)
    other.pass(HOUR)
    expect(other.setBy(YEAR)).toBe(HOUR - YEAR)
  })
})

describe('the clock of a start', () => {
  it.each([
    ['a ledger without runs', 0, false],
    ['a request an hour ago', START - HOUR, false],
    ['a request two days ago', START - 48 * HOUR, true],
    ['a request in an hour', START + HOUR, true],
  ])('is in doubt when it is far from the last request: %s', (_what, latestAt, inDoubt) => {
    const notices: Notice[] = []
    const tell = (notice: Notice) => void notices.push(notice)
    expect(isStartInDoubt({ now: START, latestAt, holdMs: HOUR }, tell)).toBe(inDoubt)
    expect(notices).toHaveLength(inDoubt ? 1 : 0)
    expect(isStartInDoubt({ now: START, latestAt, holdMs: 0 }, tell)).toBe(false)
  })
})
