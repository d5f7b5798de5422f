/**
 * The eviction of large tool results in deepagents, in process: its middleware wraps a tool call that answers at once, its
 * own tools read back.
 */
import { ToolMessage } from '@langchain/core/messages'
import { createFilesystemMiddleware, FilesystemBackend, StateBackend } from 'deepagents'
import type { LinePlace, LineRange, Peer, Receipt } from '../peer.ts'

const TOOL = 'fetch_page'
const PATH = /saved in the filesystem at this path: (\S+)/
const ALL_LINES = Number.MAX_SAFE_INTEGER

interface Options {
  /** Absent: in memory. */
  readonly folder?: string
  /** Results of more than four times as many characters are evicted. */
  readonly limitTokens: number
}

interface Update {
  readonly files?: Readonly<Record<string, unknown>>
  readonly messages?: readonly ToolMessage[]
}

interface Tool {
  readonly name: string
  invoke(input: object): Promise<unknown>
}

export function open({ folder, limitTokens }: Options): Peer {
  const state: State = { files: {} }
  const backend =
    folder === undefined
      ? new StateBackend({ state })
      : new FilesystemBackend({ rootDir: folder, virtualMode: true })
  return new DeepagentsPeer(backend, state, limitTokens)
}

interface State {
  files: Record<string, never>
}

class DeepagentsPeer implements Peer {
  readonly kind = 'library'
  readonly #backend: StateBackend | FilesystemBackend
  readonly #state: State
  readonly #middleware: ReturnType<typeof createFilesystemMiddleware>

  constructor(backend: StateBackend | FilesystemBackend, state: State, limitTokens: number) {
    this.#backend = backend
    this.#state = state
    this.#middleware = createFilesystemMiddleware({
      backend,
      toolTokenLimitBeforeEvict: limitTokens,
    })
  }

  putText(id: string, text: string): Promise<Receipt> {
    return this.#put(id, text)
  }

  /** A tool's JSON is a string here. */
  putJson(id: string, json: string): Promise<Receipt> {
    return this.#put(id, json)
  }

  /** As a standard content block; there is no other way for bytes. */
  putBytes(id: string, bytes: Buffer): Promise<Receipt> {
    const data = bytes.toString('base64')
    return this.#put(id, [{ type: 'file', mimeType: 'application/octet-stream', data }])
  }

  async read({ ref }: Receipt): Promise<Buffer> {
    const { content, error } = await this.#backend.read(ref, 0, ALL_LINES)
    if (error !== undefined) throw new Error(error)
    return typeof content === 'string' ? Buffer.from(content) : Buffer.from(content ?? [])
  }

  lines({ ref }: Receipt, { first, last }: LineRange): Promise<string> {
    return this.#readFile(ref, first - 1, last - first + 1)
  }

  async reachLine({ ref }: Receipt, { line, mark }: LinePlace): Promise<string> {
    const byLine = await this.#readFile(ref, line - 1, 1)
    const bySearch = await this.#tool('grep').invoke({ pattern: mark, path: '/' })
    // A search that finds nothing names its pattern.
    return `${byLine}\n${textOf(bySearch).replace(`pattern '${mark}'`, '')}`
  }

  async search(_: Receipt, pattern: string): Promise<string> {
    return textOf(await this.#tool('grep').invoke({ pattern, path: '/' }))
  }

  async close(): Promise<void> {}

  async #put(id: string, content: string | object[]): Promise<Receipt> {
    const message = new ToolMessage({ tool_call_id: id, name: TOOL, content: content as string })
    const request = { toolCall: { id, name: TOOL, args: {} }, state: this.#state, runtime: {} }
    const wrap = this.#middleware.wrapToolCall as unknown as (
      request: object,
      handler: () => Promise<ToolMessage>,
    ) => Promise<ToolMessage | { readonly update: Update }>
    const answer = await wrap(request, async () => message)
    const shown = textOf(ToolMessage.isInstance(answer) ? answer : this.#commit(answer.update))
    const ref = PATH.exec(shown)?.[1] ?? ''
    return answer === message ? { shown, ref, whole: Buffer.from(shown) } : { shown, ref }
  }

  /** What the graph would do with the update. */
  #commit({ files, messages }: Update): ToolMessage | undefined {
    Object.assign(this.#state.files, files)
    return messages?.[0]
  }

  async #readFile(path: string, offset: number, limit: number): Promise<string> {
    return textOf(await this.#tool('read_file').invoke({ file_path: path, offset, limit }))
  }

  #tool(name: string): Tool {
    const tools = (this.#middleware.tools ?? []) as unknown as readonly Tool[]
    const found = tools.find((tool) => tool.name === name)
    if (found === undefined) throw new Error(`deepagents has no tool ${name}`)
    return found
  }
}

/** Of a message, of its blocks, or of a bare string. */
function textOf(answer: unknown): string {
  if (typeof answer === 'string') return answer
  const { content } = { content: answer, ...(answer as object) }
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return String(content)
  return content.map((block: { text?: string }) => block.text ?? JSON.stringify(block)).join('\n')
}
