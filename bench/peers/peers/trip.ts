/** What a call over HTTP costs by itself: the messages as JSON, there, and an answer of a few bytes. */
import { KEEP_RESULTS } from '../inputs.ts'
import type { Peer } from '../peer.ts'
import { Wire } from '../wire.ts'
import { transcript } from './coatcheck.ts'

export async function open(url: string): Promise<Pick<Peer, 'kind' | 'elide' | 'close'>> {
  const wire = await Wire.open(url)
  return {
    kind: 'service',
    async elide() {
      const messages = transcript()
      const started = performance.now()
      const body = Buffer.from(JSON.stringify({ messages, keep_recent_tool_results: KEEP_RESULTS }))
      const answer = await wire.send({
        method: 'POST',
        path: '/echo',
        type: 'application/json',
        body,
      })
      JSON.parse(answer.body.toString())
      return performance.now() - started
    },
    async close() {
      wire.close()
    },
  }
}
