/**
 * What taking a JSON value in costs, against `JSON.parse(buffer.toString())` of the same bytes: UTF-8 check, scan, cutting
 * into chunks, preview, and finding that it is too long to show whole. The digest is not in it.
 */
import { contentStringWithin } from '../src/core/json/canonical.ts'
import { outlineOf, parseJson } from '../src/core/json/scan.ts'
import { VERBATIM_CHARS } from '../src/core/limits.ts'
import { previewJson, previewString } from '../src/core/preview/preview.ts'
import { planOutlined, planValue } from '../src/core/view/view.ts'
import { median, shapes } from './intake-shapes.ts'

const ROUNDS = 9
/** A server has long compiled the code that it runs; so many rounds are not counted. */
const WARM_UPS = 15

export interface IntakeResult {
  readonly shape: string
  readonly bytes: number
  /** Medians. */
  readonly intakeMs: number
  readonly parseMs: number
  readonly ratio: number
}

/** What a put does to a raw JSON body before it asks the ledger. */
export function intake(body: Buffer): number {
  const json = parseJson(body)
  const text = json.kind === 'string'
  const plan = text
    ? planValue(body, { form: 'string', start: json.start + 1, end: json.end - 1 })
    : planOutlined(json, outlineOf(json))
  const preview = text ? previewString(json, plan.view) : previewJson(json)
  const content = text ? undefined : contentStringWithin(json, VERBATIM_CHARS)
  return plan.chunks.length + preview.length + (content?.length ?? 0)
}

/** Milliseconds of this thread's processor time: other work on the machine does not count. */
function timed(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Interleaved rounds over every shape whose name holds `only`. */
function runIntake(only = '', rounds = ROUNDS): readonly IntakeResult[] {
  return shapes(only).map(({ name, body }) => {
    const intakes: number[] = []
    const parses: number[] = []
    for (let round = -WARM_UPS; round < rounds; round++) {
      const ours = timed(() => intake(body))
      const theirs = timed(() => JSON.parse(body.toString()))
      if (round < 0) continue
      intakes.push(ours)
      parses.push(theirs)
    }
    const intakeMs = median(intakes)
    const parseMs = median(parses)
    return { shape: name, bytes: body.length, intakeMs, parseMs, ratio: intakeMs / parseMs }
  })
}

if (import.meta.main) {
  for (const { shape, bytes, intakeMs, parseMs, ratio } of runIntake(process.argv[2])) {
    const figures = [intakeMs, parseMs, ratio]
      .map((figure) => figure.toFixed(2).padStart(9))
      .join('')
    console.log(`${shape.padEnd(16)}${(bytes / 1e6).toFixed(2).padStart(8)} MB${figures}`)
  }
}
