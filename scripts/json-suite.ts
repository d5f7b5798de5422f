/**
 * Sends every file of JSONTestSuite to every place of the API that takes JSON:
 * `npm run json-suite -- FOLDER` with a checkout of nst/JSONTestSuite. Valid files (`y_`) must be
 * accepted and come back unchanged. Invalid files (`n_`) must be refused with 400. Files that the
 * suite leaves open (`i_`) must get the same outcome everywhere. Prints the deviations and the
 * number of files of each sort, and exits 1 for a deviation. Does nothing without the folder.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Api, startApi } from '../test/support/api.ts'
import { PLACES, type PlaceAnswer } from '../test/support/json-places.ts'
import { scriptOptions } from './options.ts'

const BAD_REQUEST = 400
const KINDS = ['y_', 'n_', 'i_'] as const
type Kind = (typeof KINDS)[number]
type Verdict = 'taken' | 'refused' | 'wrong'

interface Judged {
  readonly verdicts: ReadonlySet<Verdict>
  /** Lines to print for deviations. */
  readonly told: readonly string[]
}

const { files } = scriptOptions({
  command: 'npm run json-suite -- FOLDER',
  does: 'Sends every file of a checkout of nst/JSONTestSuite to every place that takes JSON.',
  files: true,
})

const folder = join(files[0] ?? '', 'test_parsing')
if (files[0] === undefined || !existsSync(folder)) {
  console.log(`no JSONTestSuite there (${folder}): skipped`)
} else await judgeAll()

async function judgeAll(): Promise<void> {
  const api = await startApi()
  try {
    for (const kind of KINDS) await judgeKind(api, kind)
  } finally {
    await api.close()
  }
}

async function judgeKind(api: Api, kind: Kind): Promise<void> {
  const counts: Record<Verdict, number> = { taken: 0, refused: 0, wrong: 0 }
  for (const file of readdirSync(folder).filter((name) => name.startsWith(kind))) {
    const { verdicts, told } = await judge(api, readFileSync(join(folder, file)))
    const [verdict = 'wrong'] = verdicts
    if (verdicts.size === 1 && isExpected(kind, verdict)) counts[verdict]++
    else {
      counts.wrong++
      console.log([file, ...told].join('\n  '))
    }
  }
  const { taken, refused, wrong } = counts
  console.log(`${kind} ${taken} taken, ${refused} refused, ${wrong} otherwise`)
  if (wrong > 0) process.exitCode = 1
}

function isExpected(kind: Kind, verdict: Verdict): boolean {
  if (verdict === 'wrong') return false
  return kind === 'i_' || verdict === (kind === 'y_' ? 'taken' : 'refused')
}

async function judge(api: Api, value: Buffer): Promise<Judged> {
  const verdicts = new Set<Verdict>()
  const told: string[] = []
  for (const place of PLACES) {
    const answer = await place.send(api, value)
    const verdict = verdictOf(answer)
    verdicts.add(verdict)
    told.push(`${place.name}: ${verdict} (${answer.status} ${answer.code ?? ''})`)
  }
  return { verdicts, told }
}

function verdictOf({ status, code, returned, expected }: PlaceAnswer): Verdict {
  if (code !== undefined) return status === BAD_REQUEST ? 'refused' : 'wrong'
  return returned === undefined || returned.equals(expected) ? 'taken' : 'wrong'
}
