/**
 * Strands' ContextOffloader, in process: its own hook is called with a finished tool result, its own retrieval tool reads
 * back. Nothing evicts what was kept, as no agent loop runs between.
 */
import {
  AfterToolCallEvent,
  Agent,
  DocumentBlock,
  JsonBlock,
  type LocalAgent,
  Model,
  TextBlock,
  ToolResultBlock,
  type ToolResultContent,
} from '@strands-agents/sdk'
import { InMemoryStorage, LocalFileStorage } from '@strands-agents/sdk/storage'
import { ContextOffloader } from '@strands-agents/sdk/vended-plugins/context-offloader'
import type { LinePlace, LineRange, Peer, Receipt } from '../peer.ts'

const TOOL = 'read_file'
/** The first of the references that the transcript text ends with. */
const REFERENCE = /\[Stored references:\]\n {2}(.*) \(/

type AfterTool = (event: AfterToolCallEvent) => Promise<void>
type Retrieval = ReturnType<ContextOffloader['getTools']>[number] & {
  invoke(input: object, context: object): Promise<unknown>
}

/** Without `folder` in memory. */
export function open(folder?: string): Peer {
  const storage = folder === undefined ? new InMemoryStorage() : new LocalFileStorage(folder)
  return new StrandsPeer(new ContextOffloader({ storage }))
}

/** Only counts tokens, by the library's own estimate. */
class SilentModel extends Model {
  override updateConfig(): void {}
  override getConfig(): { modelId: string } {
    return { modelId: 'silent' }
  }
  // biome-ignore lint/correctness/useYield: it never says anything
  override async *stream(): AsyncGenerator<never> {
    throw new Error('no model is called here')
  }
}

class StrandsPeer implements Peer {
  readonly kind = 'library'
  readonly #agent: LocalAgent
  readonly #retrieval: Retrieval
  #afterTool: AfterTool | undefined

  constructor(offloader: ContextOffloader) {
    const agent = new Agent({ model: new SilentModel() })
    // The agent as it is, but for hooks, which are kept to be called.
    this.#agent = Object.assign(Object.create(agent) as LocalAgent, {
      addHook: (type: unknown, hook: unknown) => {
        if (type === AfterToolCallEvent) this.#afterTool = hook as AfterTool
        return () => undefined
      },
    })
    offloader.initAgent(this.#agent)
    this.#retrieval = offloader.getTools()[0] as Retrieval
  }

  putText(id: string, text: string): Promise<Receipt> {
    return this.#put(id, new TextBlock(text))
  }

  putJson(id: string, json: string): Promise<Receipt> {
    return this.#put(id, new JsonBlock({ json: JSON.parse(json) }))
  }

  putBytes(id: string, bytes: Buffer): Promise<Receipt> {
    const source = { bytes: new Uint8Array(bytes) }
    return this.#put(id, new DocumentBlock({ name: 'result', format: 'txt', source }))
  }

  async read({ ref }: Receipt): Promise<Buffer> {
    return bytesOf(await this.#retrieve({ reference: ref }))
  }

  async lines({ ref }: Receipt, { first, last }: LineRange): Promise<string> {
    return String(await this.#retrieve({ reference: ref, line_range: { start: first, end: last } }))
  }

  async reachLine({ ref }: Receipt, { line, mark }: LinePlace): Promise<string> {
    const byLine = await this.#retrieve({ reference: ref, line_range: { start: line, end: line } })
    const bySearch = await this.#retrieve({ reference: ref, pattern: mark, context_lines: 0 })
    // The search repeats its pattern in its first line.
    return `${byLine}\n${String(bySearch).split('\n').slice(1).join('\n')}`
  }

  async search({ ref }: Receipt, pattern: string): Promise<string> {
    return String(await this.#retrieve({ reference: ref, pattern }))
  }

  async close(): Promise<void> {}

  async #put(toolUseId: string, block: ToolResultContent): Promise<Receipt> {
    const event = new AfterToolCallEvent({
      agent: this.#agent,
      toolUse: { name: TOOL, toolUseId, input: {} },
      tool: undefined,
      result: new ToolResultBlock({ toolUseId, status: 'success', content: [block] }),
      invocationState: {},
    })
    await this.#afterTool?.(event)
    const [first] = event.result.content
    const shown = first instanceof TextBlock ? first.text : ''
    const ref = REFERENCE.exec(shown)?.[1] ?? ''
    return first === block ? { shown, ref, whole: bytesOf(first) } : { shown, ref }
  }

  #retrieve(input: object): Promise<unknown> {
    return this.#retrieval.invoke(input, { agent: this.#agent })
  }
}

function bytesOf(value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.from(value)
  if (value instanceof TextBlock) return Buffer.from(value.text)
  if (value instanceof DocumentBlock && value.source.type === 'documentSourceBytes')
    return Buffer.from(value.source.bytes)
  return Buffer.from(JSON.stringify(value))
}
