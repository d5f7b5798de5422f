/** LangChain's ClearToolUsesEdit, in process, on messages that are made before the clock starts. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ClearToolUsesEdit, countTokensApproximately } from 'langchain'
import { KEEP_RESULTS, QUESTION, toolCalls } from '../inputs.ts'
import type { Peer } from '../peer.ts'

type EditParams = Parameters<ClearToolUsesEdit['apply']>[0]
const CHARS_PER_TOKEN = 4

/** `counting`: with the counter that the middleware uses by default; else with one that adds lengths of contents. */
export function open({
  counting,
}: {
  readonly counting: boolean
}): Pick<Peer, 'kind' | 'elide' | 'close'> {
  const edit = new ClearToolUsesEdit({ trigger: { tokens: 1 }, keep: { messages: KEEP_RESULTS } })
  const countTokens = counting ? countTokensApproximately : addLengths
  return {
    kind: 'library',
    async elide() {
      const params = { messages: transcript(), countTokens } as unknown as EditParams
      const started = performance.now()
      await edit.apply(params)
      const took = performance.now() - started
      const cleared = params.messages.filter(({ content }) => content === edit.placeholder)
      if (cleared.length === toolCalls().length - KEEP_RESULTS) return took
      throw new Error(`${cleared.length} results were cleared`)
    },
    async close() {},
  }
}

function addLengths(messages: readonly BaseMessage[]): number {
  let chars = 0
  for (const { content } of messages) chars += content.length
  return chars / CHARS_PER_TOKEN
}

function transcript(): BaseMessage[] {
  const turns = toolCalls().flatMap(({ id, name, input, result }) => [
    new AIMessage({ content: '', tool_calls: [{ id, name, args: { ...input } }] }),
    new ToolMessage({ tool_call_id: id, name, content: result }),
  ])
  return [new HumanMessage(QUESTION), ...turns]
}
