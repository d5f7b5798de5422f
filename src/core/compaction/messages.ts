/**
 * One reading of a transcript, for the two shapes that loops send: Anthropic's messages, whose tool calls and results are
 * blocks, and OpenAI's chat messages, with `tool_calls` and messages of role `tool`. They are told apart message by
 * message, so that a transcript needs neither a label nor any tool call.
 *
 * Everything stays a slice of the caller's bytes. Unknown roles are user turns; unknown blocks and members are passed
 * over. Only what no provider takes is refused: no array, a message that is no object or has no role.
 */
import { CoatcheckError } from '../errors.ts'
import { distinctMembersOf, elementsOf, type JsonSlice, type Member } from '../json/slice.ts'
import { decodeRaw, decodeText } from '../json/strings.ts'
import { isRenderedSummary, readSummary, type Summary } from './summary.ts'

/** The longest name of a tool, in UTF-16 units. */
const CALL_NAME_UNITS = 1_024
/** What names the tool of a result whose call is not in the transcript. */
const UNKNOWN_TOOL = 'tool'
const TOOL_ROLES: ReadonlySet<string> = new Set(['tool', 'function'])
const INSTRUCTION_ROLES: ReadonlySet<string> = new Set(['system', 'developer'])

export interface ToolCall {
  readonly id: string | undefined
  readonly name: string | undefined
  /** The arguments: an object, or OpenAI's string token that holds one. */
  readonly input: JsonSlice | undefined
}

export interface ToolResult {
  /** A string token. */
  readonly id: JsonSlice | undefined
  readonly content: JsonSlice | undefined
}

export interface Message {
  readonly json: JsonSlice
  readonly role: string
  readonly content: JsonSlice | undefined
  /** The text a person or model wrote in it, each lone surrogate as U+FFFD; tool results are not among it. */
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly results: readonly ToolResult[]
  /** What a `compaction_summary` member says. */
  readonly summary: Summary | undefined
}

/** `exchange`: tool results. `summary`: what an earlier compaction left. `instructions`: a system or developer message. */
export type MessageKind = 'instructions' | 'user' | 'assistant' | 'exchange' | 'summary'

type Members = ReadonlyMap<string, Member>

/** The messages of a transcript, in order. Throws `invalid_request` that names the index. */
export function readMessages(messages: JsonSlice): readonly Message[] {
  if (messages.kind !== 'array') {
    throw new CoatcheckError(
      'invalid_request',
      `messages is not an array (${messages.kind}); send the transcript as an array of messages.`,
    )
  }
  const read: Message[] = []
  for (const message of elementsOf(messages)) read.push(readMessage(message, read.length))
  return read
}

function readMessage(json: JsonSlice, index: number): Message {
  if (json.kind !== 'object') throw badMessage(index, `is not an object (${json.kind})`)
  const members = distinctMembersOf(json)
  const role = stringOf(members, 'role')
  if (role === undefined) throw badMessage(index, 'has no string member "role"')
  const content = members.get('content')?.value
  const blocks = content?.kind === 'array' ? blocksOf(content) : []
  return {
    json,
    role,
    content,
    text: TOOL_ROLES.has(role) ? '' : textOf(content, blocks),
    calls: [...blockCalls(blocks), ...functionCalls(members.get('tool_calls')?.value)],
    results: resultsOf(role, members, blocks),
    summary: summaryOf(members.get('compaction_summary')?.value, index),
  }
}

function badMessage(index: number, what: string): CoatcheckError {
  return new CoatcheckError(
    'invalid_request',
    `messages[${index}] ${what}; each message is an object with a role and its content.`,
    { index },
  )
}

function blocksOf(content: JsonSlice): readonly Members[] {
  const blocks: Members[] = []
  for (const block of elementsOf(content)) {
    if (block.kind === 'object') blocks.push(distinctMembersOf(block))
  }
  return blocks
}

function textOf(content: JsonSlice | undefined, blocks: readonly Members[]): string {
  if (content?.kind === 'string') return decodeText(content)
  const texts: string[] = []
  for (const block of blocks) {
    const text = block.get('text')?.value
    if (text?.kind === 'string' && stringOf(block, 'type') === 'text') texts.push(decodeText(text))
  }
  return texts.join('\n')
}

function blockCalls(blocks: readonly Members[]): readonly ToolCall[] {
  return blocks
    .filter((block) => stringOf(block, 'type') === 'tool_use')
    .map((block) => ({
      id: stringOf(block, 'id'),
      name: nameOf(block),
      input: block.get('input')?.value,
    }))
}

/** OpenAI's calls: of a function, or of a custom tool with free text as its input. */
function functionCalls(calls: JsonSlice | undefined): readonly ToolCall[] {
  if (calls?.kind !== 'array') return []
  return blocksOf(calls).map((call) => {
    const body = (call.get('function') ?? call.get('custom'))?.value
    const members: Members = body?.kind === 'object' ? distinctMembersOf(body) : new Map()
    return {
      id: stringOf(call, 'id'),
      name: nameOf(members),
      input: (members.get('arguments') ?? members.get('input'))?.value,
    }
  })
}

function resultsOf(
  role: string,
  members: Members,
  blocks: readonly Members[],
): readonly ToolResult[] {
  const id = members.get('tool_call_id')?.value
  if (role === 'tool' && id?.kind === 'string') {
    return [{ id, content: members.get('content')?.value }]
  }
  if (role !== 'user') return []
  return blocks
    .filter((block) => stringOf(block, 'type') === 'tool_result')
    .map((block) => {
      const use = block.get('tool_use_id')?.value
      return { id: use?.kind === 'string' ? use : undefined, content: block.get('content')?.value }
    })
}

function summaryOf(member: JsonSlice | undefined, index: number): Summary | undefined {
  if (member === undefined || member.kind === 'null') return undefined
  const summary = readSummary(member)
  if (summary === undefined) throw badMessage(index, 'has a malformed "compaction_summary"')
  return summary
}

/**
 * What a message is to a compaction. A user message with any tool result in it is an exchange; the reference looks only at
 * the first block, which would let a result survive its call. A message is known as a summary by its text only when that
 * text is all there is in it, so that nothing a user added is taken for part of the summary.
 */
export function kindOf(message: Message): MessageKind {
  const { role, content, text } = message
  if (message.summary !== undefined) return 'summary'
  if (message.results.length > 0 || TOOL_ROLES.has(role)) return 'exchange'
  if (role === 'assistant') return 'assistant'
  if (INSTRUCTION_ROLES.has(role)) return 'instructions'
  return role === 'user' && isOneText(content) && isRenderedSummary(text) ? 'summary' : 'user'
}

function isOneText(content: JsonSlice | undefined): boolean {
  if (content?.kind !== 'array') return content?.kind === 'string'
  const [only, another] = elementsOf(content)
  return only !== undefined && another === undefined
}

/** Tool names by call id; the last call of an id names it, wherever it stands. */
export function toolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { calls } of messages) {
    for (const { id, name } of calls) {
      if (id !== undefined && name !== undefined) names.set(id, name)
    }
  }
  return names
}

/** The name of the tool that gave a result; `tool` when its call is unknown. */
export function toolNameOf(result: ToolResult, names: ReadonlyMap<string, string>): string {
  return (result.id && names.get(decodeRaw(result.id))) ?? UNKNOWN_TOOL
}

/** A name of a length that no tool has is none: markers would repeat it for every result. */
function nameOf(members: Members): string | undefined {
  const name = stringOf(members, 'name')?.toWellFormed()
  return name === undefined || name.length > CALL_NAME_UNITS ? undefined : name
}

function stringOf(members: Members, name: string): string | undefined {
  const value = members.get(name)?.value
  return value?.kind === 'string' ? decodeRaw(value) : undefined
}
