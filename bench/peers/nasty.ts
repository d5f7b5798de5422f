/**
 * Ten inputs that tools really produce and that are easily mishandled, and what each has to come through with. A case runs
 * against any candidate; one that blocks is ended from outside and counts as hung.
 */
import { LINE_BYTES, textOf } from './inputs.ts'
import type { Peer, Receipt } from './peer.ts'

export type Verdict = 'kept' | 'lost' | 'wrong' | 'hung' | 'not offered'

export interface Finding {
  readonly verdict: Verdict
  readonly note: string
}

export interface NastyCase {
  readonly name: string
  readonly needs: readonly (keyof Peer)[]
  /** What has no meaning for a plain store, and why. */
  readonly notForStores?: string
  run(peer: Peer): Promise<Finding>
}

/** Large enough that every candidate moves it out of the transcript, by default. */
const BULK_BYTES = 100_000
const BULK = textOf(BULK_BYTES)
const LONG_LINES_CHARS = [30_001, 100_001]
const MARK = 'END-OF-THE-LINE'
const EMOJI = '\u{1F600}'
const REPLACEMENTS = "cost: $& and $' and $` and $$ and $1"
const PATTERN = '(a|aa)+$'
const PATTERN_BAIT = `${'a'.repeat(60)}!`
const NUMBERS = `{"id": 9007199254740993, "log": ${JSON.stringify(BULK)}}`
const MEMBERS = `{"a": 1, "a": 2, "10": 1.0, "2": 1e400, "log": ${JSON.stringify(BULK)}}`
const KEPT: Finding = { verdict: 'kept', note: '' }

const longLine: NastyCase = {
  name: `a line of 30,001 and one of 100,001 characters: is its end within reach?`,
  needs: ['reachLine'],
  async run(peer) {
    for (const chars of LONG_LINES_CHARS) {
      const line = 'x'.repeat(chars - MARK.length) + MARK
      const receipt = await peer.putText(`line-${chars}`, `${BULK}${line}\n${BULK}`)
      const place = {
        line: BULK.length / LINE_BYTES + 1,
        mark: MARK,
        endByte: BULK.length + line.length,
      }
      const reached = await peer.reachLine?.(receipt, place)
      if (!reached?.includes(MARK))
        return lost(`the end of ${chars} characters is in no bounded piece`)
    }
    return KEPT
  },
}

const ids: NastyCase = {
  name: 'one id twice, and the empty id twice: are all four there?',
  needs: ['read'],
  notForStores: 'its caller chooses keys',
  async run(peer) {
    const receipts: Receipt[] = []
    const named = ['call-1', 'call-1', '', ''].map((id, index) => [id, `${index} ${BULK}`] as const)
    for (const [id, text] of named) receipts.push(await peer.putText(id, text))
    for (const [index, [id, text]] of named.entries()) {
      const name = id === '' ? 'an empty id' : 'a repeated id'
      const finding = await readsAs(peer, receipts[index], Buffer.from(text))
      if (finding !== KEPT) return lost(`the first result under ${name}: overwritten`)
    }
    return KEPT
  },
}

const surrogates: NastyCase = {
  name: 'surrogate pairs where a preview is cut: is it well-formed?',
  needs: ['putText'],
  notForStores: 'its caller makes previews',
  async run(peer) {
    for (const before of ['', 'x']) {
      const text = before + EMOJI.repeat(BULK_BYTES / 2)
      const { shown } = await peer.putText(`pairs-${before}`, text)
      if (!shown.isWellFormed()) return wrong('half a pair in the transcript text')
    }
    return KEPT
  },
}

const replacements: NastyCase = {
  name: "`$&` and `$'` in a result: does the transcript text show them?",
  needs: ['putText'],
  notForStores: 'its caller makes previews',
  async run(peer) {
    const { shown } = await peer.putText('dollars', `${REPLACEMENTS}\n${BULK}`)
    return shown.includes(REPLACEMENTS) ? KEPT : wrong('the transcript text says something else')
  },
}

const pattern: NastyCase = {
  name: '`(a|aa)+$` as a pattern: does an answer come, and the next one?',
  needs: ['search'],
  async run(peer) {
    const receipt = await peer.putText('pattern', `${BULK}${PATTERN_BAIT}`)
    const found = (await peer.search?.(receipt, PATTERN)) ?? ''
    await peer.putText('pattern-after', BULK)
    if (found.startsWith('No matches found for pattern')) return kept('searches literals only')
    return peer.kind === 'service' ? kept('as a schema’s pattern; there is no search') : KEPT
  },
}

const nul: NastyCase = {
  name: 'U+0000 in a text: is it there?',
  needs: ['read'],
  async run(peer) {
    const text = `a\0b\n${BULK}`
    return readsAs(peer, await peer.putText('nul', text), Buffer.from(text))
  },
}

const numbers: NastyCase = {
  name: '2^53 + 1 in a JSON value: which number comes back?',
  needs: ['putJson', 'read'],
  async run(peer) {
    const receipt = await peer.putJson?.('numbers', NUMBERS)
    const back = (await peer.read?.(receipt as Receipt))?.toString() ?? ''
    return /"id": ?9007199254740993\b/.test(back) ? KEPT : wrong('rounded, as a JSON value')
  },
}

const members: NastyCase = {
  name: 'a member twice, `1e400`, `1.0`, keys like `"10"`: the same JSON text?',
  needs: ['putJson', 'read'],
  async run(peer) {
    const receipt = await peer.putJson?.('members', MEMBERS)
    return readsAs(peer, receipt, Buffer.from(MEMBERS))
  },
}

const unresolved: NastyCase = {
  name: 'arguments that refer to nothing (`$r9.rows`): does the tool run with them?',
  needs: ['callWithUnresolved'],
  async run(peer) {
    const runs = await peer.callWithUnresolved?.('$r9.rows')
    return runs ? wrong('it would run with the literal text') : KEPT
  },
}

const bytes: NastyCase = {
  name: 'bytes that are not UTF-8: the same bytes?',
  needs: ['putBytes', 'read'],
  async run(peer) {
    const sent = Buffer.concat([Buffer.from([0xc3, 0x28, 0xff, 0xfe]), Buffer.from(BULK)])
    const receipt = await peer.putBytes?.('bytes', sent)
    return readsAs(peer, receipt, sent)
  },
}

export const NASTY_CASES: readonly NastyCase[] = [
  longLine,
  ids,
  surrogates,
  replacements,
  pattern,
  nul,
  numbers,
  members,
  unresolved,
  bytes,
]

/** What throws was not kept, and the note is what it said. */
export async function findingOf(
  peer: Peer,
  { needs, notForStores, run }: NastyCase,
): Promise<Finding> {
  if (peer.kind === 'store' && notForStores !== undefined) return notOffered(notForStores)
  if (needs.some((method) => peer[method] === undefined)) return notOffered('')
  try {
    return await run(peer)
  } catch (error) {
    return lost(`refused: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function readsAs(peer: Peer, receipt: Receipt | undefined, sent: Buffer): Promise<Finding> {
  if (receipt === undefined) return lost('nothing was kept to read')
  if (receipt.whole?.equals(sent)) return kept('stays in the transcript as it is')
  const back = await peer.read?.(receipt)
  if (back?.equals(sent)) return KEPT
  const inBase64 = back?.includes(sent.toString('base64'))
  return inBase64 ? kept('as base64 in a JSON text') : wrong('comes back changed')
}

const kept = (note: string): Finding => ({ verdict: 'kept', note })
const lost = (note: string): Finding => ({ verdict: 'lost', note })
const wrong = (note: string): Finding => ({ verdict: 'wrong', note })
const notOffered = (note: string): Finding => ({ verdict: 'not offered', note })
