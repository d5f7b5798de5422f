/**
 * Reads transcripts in two shapes: Anthropic's messages, whose tool calls and results are blocks,
 * and OpenAI's chat messages, with `tool_calls` and messages of role `tool`. The shape is decided
 * for each message, so a transcript needs no label.
 *
 * Everything stays a slice of the caller's bytes. Unknown roles are user turns. Unknown blocks and
 * members are skipped. Only what no provider takes is refused: a value that is no array, and a
 * message that is no object or has no role.
 */
import { CoatcheckError } from '../errors.ts'
import { Cursor, Fields } from '../json/cursor.ts'
import { elementsOf, JsonSlice } from '../json/slice.ts'
import { decodeRaw, decodeText, isNamed } from '../json/strings.ts'
import { isRenderedSummary, readSummary, type Summary } from './summary.ts'

/** The longest name of a tool, in UTF-16 units. */
const CALL_NAME_UNITS = 1_024
/** Name for the tool of a result whose call is not in the transcript. */
const UNKNOWN_TOOL = 'tool'
const TOOL_ROLES: ReadonlySet<string> = new Set(['tool', 'function'])
const INSTRUCTION_ROLES: ReadonlySet<string> = new Set(['system', 'developer'])

/** A tool call in a message. */
export interface ToolCall {
  readonly id: string | undefined
  readonly name: string | undefined
  /** Arguments: an object, or OpenAI's string token that holds one. */
  readonly input: JsonSlice | undefined
}

/** A tool result in a message. */
export interface ToolResult {
  /** String token of the call's id. */
  readonly id: JsonSlice | undefined
  readonly content: JsonSlice | undefined
}

/** One message of a transcript. */
export interface Message {
  readonly json: JsonSlice
  readonly role: string
  readonly content: JsonSlice | undefined
  /** Text that a person or model wrote, without tool results. Each lone surrogate is U+FFFD. */
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly results: readonly ToolResult[]
  /** Summary in the member `compaction_summary`. */
  readonly summary: Summary | undefined
}

/**
 * `exchange`: tool results. `summary`: the summary of an earlier compaction. `instructions`: a
 * system or developer message.
 */
export type MessageKind = 'instructions' | 'user' | 'assistant' | 'exchange' | 'summary'

/** Reads the messages of a transcript. Throws `invalid_request`, which names the index. */
export function readMessages(messages: JsonSlice): readonly Message[] {
  if (messages.kind !== 'array') {
    throw new CoatcheckError(
      'invalid_request',
      `messages is not an array (${messages.kind}); send the transcript as an array of messages.`,
    )
  }
  const read: Message[] = []
  const cursor = new Cursor(messages)
  cursor.array(messages.start, (start) => {
    const message = readMessage(cursor, { bytes: messages.bytes, start, index: read.length })
    read.push(message)
    return message.json.end
  })
  return read
}

interface Place {
  readonly bytes: Buffer
  readonly start: number
  readonly index: number
}

function readMessage(cursor: Cursor, { bytes, start, index }: Place): Message {
  const { kind } = new JsonSlice(bytes, start)
  if (kind !== 'object') throw badMessage(index, `is not an object (${kind})`)
  const members = new Fields()
  let blocks: readonly Fields[] = []
  const end = cursor.object(start, (name, at) => {
    if (name === 'content') blocks = []
    const isList = name === 'content' && new JsonSlice(bytes, at).kind === 'array'
    const list = isList ? readBlocks(cursor, new JsonSlice(bytes, at)) : undefined
    if (list !== undefined) blocks = list.blocks
    const value = list === undefined ? cursor.value(at) : new JsonSlice(bytes, at, list.end)
    members.add(name, value)
    return value.end
  })
  const role = stringOf(members, 'role')
  if (role === undefined) throw badMessage(index, 'has no string member "role"')
  const content = members.get('content')
  return {
    json: new JsonSlice(bytes, start, end),
    role,
    content,
    text: TOOL_ROLES.has(role) ? '' : textOf(content, blocks),
    calls: [...blockCalls(blocks), ...functionCalls(cursor, members.get('tool_calls'))],
    results: resultsOf(role, members, blocks),
    summary: summaryOf(members.get('compaction_summary'), index),
  }
}

function badMessage(index: number, what: string): CoatcheckError {
  return new CoatcheckError(
    'invalid_request',
    `messages[${index}] ${what}; each message is an object with a role and its content.`,
    { index },
  )
}

/** Reads the objects of the array at `list`. Returns where it ends. */
function readBlocks(
  cursor: Cursor,
  list: JsonSlice,
): { readonly blocks: readonly Fields[]; readonly end: number } {
  const blocks: Fields[] = []
  const end = cursor.array(list.start, (start) => {
    if (new JsonSlice(list.bytes, start).kind !== 'object') return cursor.value(start).end
    const block = new Fields()
    blocks.push(block)
    return cursor.fields(start, block)
  })
  return { blocks, end }
}

function textOf(content: JsonSlice | undefined, blocks: readonly Fields[]): string {
  if (content?.kind === 'string') return decodeText(content)
  const texts: string[] = []
  for (const block of blocks) {
    const text = block.get('text')
    if (text?.kind === 'string' && isOfType(block, 'text')) texts.push(decodeText(text))
  }
  return texts.join('\n')
}

function blockCalls(blocks: readonly Fields[]): readonly ToolCall[] {
  return blocks
    .filter((block) => isOfType(block, 'tool_use'))
    .map((block) => ({
      id: stringOf(block, 'id'),
      name: nameOf(block),
      input: block.get('input'),
    }))
}

/** Calls in OpenAI's shape: of a function, or of a custom tool with free text as its input. */
function functionCalls(cursor: Cursor, calls: JsonSlice | undefined): readonly ToolCall[] {
  if (calls?.kind !== 'array') return []
  return readBlocks(cursor, calls).blocks.map((call) => {
    const body = call.get('function') ?? call.get('custom')
    const members = new Fields()
    if (body?.kind === 'object') cursor.fields(body.start, members)
    return {
      id: stringOf(call, 'id'),
      name: nameOf(members),
      input: members.get('arguments') ?? members.get('input'),
    }
  })
}

function resultsOf(
  role: string,
  members: Fields,
  blocks: readonly Fields[],
): readonly ToolResult[] {
  const id = members.get('tool_call_id')
  if (role === 'tool' && id?.kind === 'string') {
    return [{ id, content: members.get('content') }]
  }
  if (role !== 'user') return []
  return blocks
    .filter((block) => isOfType(block, 'tool_result'))
    .map((block) => {
      const use = block.get('tool_use_id')
      return { id: use?.kind === 'string' ? use : undefined, content: block.get('content') }
    })
}

function summaryOf(member: JsonSlice | undefined, index: number): Summary | undefined {
  if (member === undefined || member.kind === 'null') return undefined
  const summary = readSummary(member)
  if (summary === undefined) throw badMessage(index, 'has a malformed "compaction_summary"')
  return summary
}

/**
 * Kind of a message for compaction. A user message with any tool result is an exchange; the
 * reference looks at the first block only, which lets a result survive its call. A message counts
 * as a summary by its text only when it holds nothing else, so that words which a user added are
 * not taken for part of the summary.
 */
export function kindOf(message: Message): MessageKind {
  const { role, content, text } = message
  if (message.summary !== undefined) return 'summary'
  if (message.results.length > 0 || TOOL_ROLES.has(role)) return 'exchange'
  if (role === 'assistant') return 'assistant'
  if (INSTRUCTION_ROLES.has(role)) return 'instructions'
  return role === 'user' && !isSeveral(content) && isRenderedSummary(text) ? 'summary' : 'user'
}

/** Whether `content` holds more than one text. */
function isSeveral(content: JsonSlice | undefined): boolean {
  if (content?.kind !== 'array') return false
  const [, another] = elementsOf(content)
  return another !== undefined
}

/** Tool names by call id. The last call of an id counts, wherever it stands. */
export function toolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { calls } of messages) {
    for (const { id, name } of calls) {
      if (id !== undefined && name !== undefined) names.set(id, name)
    }
  }
  return names
}

/** Name of the tool that gave a result; `tool` when its call is unknown. */
export function toolNameOf(result: ToolResult, names: ReadonlyMap<string, string>): string {
  return (result.id && names.get(decodeRaw(result.id))) ?? UNKNOWN_TOOL
}

/**
 * Name of a tool. A name of impossible length is dropped, since markers would repeat it for every
 * result.
 */
function nameOf(members: Fields): string | undefined {
  const name = stringOf(members, 'name')?.toWellFormed()
  return name === undefined || name.length > CALL_NAME_UNITS ? undefined : name
}

function isOfType(block: Fields, type: string): boolean {
  const value = block.get('type')
  return value?.kind === 'string' && isNamed(value, type)
}

function stringOf(members: Fields, name: string): string | undefined {
  const value = members.get(name)
  return value?.kind === 'string' ? decodeRaw(value) : undefined
}
