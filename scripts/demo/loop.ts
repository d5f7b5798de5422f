// The agent loop: passes messages between the model and its tools, with coatcheck between them.
import type { Coatcheck } from './client.ts'
import type { Call, Step, Turn } from './model.ts'
import type { Printer } from './print.ts'
import { TOOLS } from './tools.ts'
import type { Message, Outcome, ToolResult, ToolUse } from './types.ts'

/** A result that the service stored, and the tool's own result. */
export interface Taken {
  readonly handle: string
  readonly evidenceId: string
  readonly outcome: Outcome
}

/** The agent loop of the demo. */
export class Loop {
  readonly #service: Coatcheck
  readonly #print: Printer
  readonly #answers: readonly Outcome[]
  readonly messages: Message[] = []
  readonly taken: Taken[] = []
  /** Characters of the pages that the model recalled. */
  recalledChars = 0
  #calls = 0

  /** `answers` are the answers of people to suspended calls, in order. */
  constructor(service: Coatcheck, print: Printer, answers: readonly Outcome[]) {
    this.#service = service
    this.#print = print
    this.#answers = [...answers]
  }

  async run(turn: Turn): Promise<void> {
    this.#add({ role: 'user', content: turn.user })
    let seen = ''
    for (const step of turn.steps) {
      const use = this.#say(step, seen)
      if (use !== undefined) seen = await this.#answer(use)
    }
  }

  #say({ says, calls }: Step, seen: string): ToolUse | undefined {
    const call = calls?.(seen)
    const use = call === undefined ? undefined : this.#toolUse(call)
    const text = { type: 'text', text: says } as const
    this.#add({ role: 'assistant', content: use === undefined ? [text] : [text, use] })
    return use
  }

  #toolUse({ name, input }: Call): ToolUse {
    this.#calls += 1
    return { type: 'tool_use', id: `toolu_${String(this.#calls).padStart(2, '0')}`, name, input }
  }

  /** Runs the call and adds the content of its result to the transcript. */
  async #answer(use: ToolUse): Promise<string> {
    const result = use.name === 'recall' ? await this.#recall(use) : await this.#runTool(use)
    this.#add({ role: 'user', content: [result] })
    return result.content
  }

  /** Forwards the model's arguments unchanged. A page is not stored as a new result. */
  async #recall({ id, input }: ToolUse): Promise<ToolResult> {
    const page = await this.#service.recall(input)
    this.recalledChars += [...page.content].length
    return { type: 'tool_result', tool_use_id: id, content: page.text }
  }

  async #runTool(use: ToolUse): Promise<ToolResult> {
    const outcome = await this.#outcomeOf(use)
    const content = await this.#put(use, outcome)
    if (content !== null) return asResult(use, outcome, content)
    // A suspension: the transcript waits. The answer comes later and takes the call's own id.
    const answer = this.#answers[0]
    if (answer === undefined) throw new Error(`nobody answers ${use.id}`)
    this.#print.note(
      `the run waits for the answer to ${use.id}; later a person gives it, under the same id`,
    )
    const answered = await this.#put(use, answer)
    return asResult(use, answer, answered ?? '')
  }

  /** Resolves the references, validates the arguments, and runs the tool only if they are valid. */
  async #outcomeOf({ name, input }: ToolUse): Promise<Outcome> {
    const { arguments: args, resolved, failure } = await this.#service.resolve(name, input)
    if (failure !== null) {
      const { kind, message, attempts } = failure.__salvor_error
      return { kind: 'failure', failure: { kind, messages: [message], attempts } }
    }
    for (const reference of resolved) {
      const { length } = JSON.stringify(args)
      this.#print.note(
        `${name} gets the value in place of $${reference}: ${length} characters of arguments`,
      )
    }
    const tool = TOOLS[name]
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    return tool.run(args)
  }

  async #put(use: ToolUse, outcome: Outcome): Promise<string | null> {
    const put = await this.#service.put(use.id, use.name, outcome)
    this.#print.note(`${use.id} is kept as ${put.handle}, shown as: ${put.rendering}`)
    const moved = this.taken.findIndex(({ evidenceId }) => evidenceId === put.evidence_id)
    const waiting = this.taken[moved]
    if (waiting !== undefined) {
      this.taken[moved] = { ...waiting, evidenceId: `${waiting.evidenceId}~suspension` }
    }
    this.taken.push({ handle: put.handle, evidenceId: put.evidence_id, outcome })
    return put.content
  }

  #add(message: Message): void {
    this.messages.push(message)
    this.#print.message(message)
  }
}

function asResult({ id }: ToolUse, outcome: Outcome, content: string): ToolResult {
  const result = { type: 'tool_result', tool_use_id: id, content } as const
  return outcome.kind === 'failure' ? { ...result, is_error: true } : result
}
