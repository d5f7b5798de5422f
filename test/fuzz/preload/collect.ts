// Runs in a service first: when asked, collects its garbage and tells what is left, in bytes. What V8 leaves lying for a while
// would hide whether memory is held.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

process.on('message', () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.(heapUsed + external)
})
// It does not keep the service alive.
process.channel?.unref()
