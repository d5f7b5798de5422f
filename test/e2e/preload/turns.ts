// Measures, in the main thread of a service, the longest turn of its event loop by the time of a processor that it took, garbage
// collection included. What the machine gives to other processes meanwhile does not count. A message starts a measurement and is
// answered with that of the one before, in milliseconds.
const US_PER_MS = 1000
/** Turns that take less are not told apart. */
const TICK_MS = 1

let longestUs = 0
let before = usedUs()

function usedUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

function look(): void {
  const now = usedUs()
  longestUs = Math.max(longestUs, now - before)
  before = now
}

setInterval(look, TICK_MS).unref()
process.on('message', () => {
  look()
  process.send?.(longestUs / US_PER_MS)
  longestUs = 0
})
process.channel?.unref()
