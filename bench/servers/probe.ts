/**
 * Loaded into a server before its own code (`--import`): tells where it listens, and how long its event loop was held up. It
 * ends the server when whoever started it is gone.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { AddressInfo, Server } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** What it is asked: start measuring, or answer and stop. */
export type Question = 'watch' | 'delay'
/** `port` once; `delayMs` for each `delay`: the 99th percentile since `watch`. */
export type Told = { readonly port: number } | { readonly delayMs: number }

const RESOLUTION_MS = 1
const NS_PER_MS = 1e6
const PERCENTILE = 99

if (isMainThread && process.send !== undefined) watchServer()

function watchServer(): void {
  const tell = (told: Told): void => void process.send?.(told)
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { server } = message as { server: Server }
    tell({ port: (server.address() as AddressInfo).port })
  })
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  process.on('message', (question: Question) => {
    if (question === 'watch') {
      delay.reset()
      delay.enable()
      return
    }
    delay.disable()
    tell({ delayMs: delay.percentile(PERCENTILE) / NS_PER_MS })
  })
  process.on('disconnect', () => process.exit())
  // the server decides when it is done
  process.channel?.unref()
}
