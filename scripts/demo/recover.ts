// Checks the promise of the service: every result of the run comes back, byte for byte as the tool
// gave it.
import type { Coatcheck, SentinelFailure } from './client.ts'
import type { Taken } from './loop.ts'
import type { Outcome } from './types.ts'

/** Totals of the results that were read back. */
export interface Recovered {
  readonly results: number
  readonly bytes: number
  readonly pages: number
  /** Differences; empty when every byte came back. */
  readonly differences: readonly string[]
}

/** Reads every result back, whole and by recall, and compares it with the tool's own. */
export async function recoverAll(service: Coatcheck, taken: readonly Taken[]): Promise<Recovered> {
  const differences: string[] = []
  let bytes = 0
  let pages = 0
  for (const { handle, evidenceId, outcome } of taken) {
    const value = await service.value(handle, 'bytes')
    const view = await service.value(handle, 'text')
    const recalled = await recallWhole(service, evidenceId)
    bytes += value.length
    pages += recalled.pages
    if (!isValueOf(value, outcome)) differences.push(`${handle}: the value read back differs`)
    if (!isViewOf(view, outcome)) differences.push(`${handle}: its text view differs`)
    if (recalled.text !== view.toString()) differences.push(`${handle}: what was recalled differs`)
  }
  return { results: taken.length, bytes, pages, differences }
}

/** Recalls a whole result by its id, following each page's `next`. */
async function recallWhole(
  service: Coatcheck,
  id: string,
): Promise<{ text: string; pages: number }> {
  let page = await service.recall({ id })
  let text = page.content
  let pages = 1
  while (page.next !== null) {
    page = await service.recall(page.next)
    text += page.content
    pages += 1
  }
  return { text, pages }
}

function isValueOf(value: Buffer, outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'text':
    case 'json':
      return value.equals(outcome.bytes)
    case 'failure': {
      const { kind, message, attempts } = parse<{ __salvor_error: SentinelFailure }>(
        value,
      ).__salvor_error
      const { failure } = outcome
      return (
        kind === failure.kind &&
        message === failure.messages.join(': ') &&
        attempts === failure.attempts
      )
    }
    case 'suspension': {
      const { __salvor_suspend: kept } = parse<{ __salvor_suspend: object }>(value)
      return same(kept, { reason: outcome.reason, input_schema: outcome.input_schema })
    }
    default:
      return outcome satisfies never
  }
}

function isViewOf(view: Buffer, outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'text':
      return view.equals(outcome.bytes)
    case 'json':
      return same(parse(view), parse(outcome.bytes))
    case 'failure':
      return view.toString() === outcome.failure.messages.join(': ')
    case 'suspension':
      return view.toString() === outcome.reason
    default:
      return outcome satisfies never
  }
}

const parse = <Value>(json: Buffer): Value => JSON.parse(json.toString()) as Value
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
