/**
 * `npm run bench:peers`: coatcheck and what one would use instead, in one run. Starts all it needs, prints tables, and
 * writes them to docs/reference/benchmarks-peers.md when all of it has run.
 *
 * `-- --rounds 7` · `--quick`: two rounds, 10 MB instead of 100 · `--only puts,http,lines,elide,nasty` · `--write`: also
 * after one of those.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { documentOf } from './document.ts'
import { MIB } from './inputs.ts'
import type { Results } from './results.ts'
import { Stage } from './stage.ts'
import { measureElisions } from './tasks/elide.ts'
import { measureLines } from './tasks/lines.ts'
import { judgeNasty } from './tasks/nasty.ts'
import { measurePuts } from './tasks/put.ts'
import { measureHttpPuts } from './tasks/put-http.ts'

const DOCUMENT = fileURLToPath(new URL('../../docs/reference/benchmarks-peers.md', import.meta.url))
const PACKAGE = new URL('package.json', import.meta.url)
const SERVERS = { redis: 'Redis', postgres: 'PostgreSQL' }
const PARTS = ['nasty', 'elide', 'puts', 'http', 'lines']
const ROUNDS = '7'
const QUICK_ROUNDS = '2'
const TEXT_MEGABYTES = 100
const QUICK_TEXT_MEGABYTES = 10
const BYTES_PER_GIB = 1024 * MIB
/** One for each process that has to end with this one. */
const EXIT_LISTENERS = 64
const INTERRUPTED = 130

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: PARTS.join(',') },
    write: { type: 'boolean', default: false },
  },
})
process.setMaxListeners(EXIT_LISTENERS)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(INTERRUPTED))

const parts = options.only.split(',')
const whole = !options.quick && PARTS.every((part) => parts.includes(part))
const text = documentOf(await measureAll())
console.log(text)
if (whole || options.write) writeFileSync(DOCUMENT, text)

async function measureAll(): Promise<Results> {
  const rounds = Number(options.rounds ?? (options.quick ? QUICK_ROUNDS : ROUNDS))
  const textMegabytes = options.quick ? QUICK_TEXT_MEGABYTES : TEXT_MEGABYTES
  const stage = await Stage.open()
  const part = <Answer>(name: string, none: Answer, work: () => Promise<Answer>) => {
    if (!parts.includes(name)) return none
    console.error(`${name} …`)
    return work()
  }
  try {
    const findings = await part('nasty', new Map(), () => judgeNasty(stage))
    const elisions = await part('elide', new Map(), () => measureElisions(stage, rounds))
    const puts = await part('puts', [], async () => measurePuts(stage, rounds))
    const http = await part('http', new Map(), () => measureHttpPuts(stage, rounds))
    const none = { figures: new Map(), failed: new Map() }
    const lines = await part('lines', none, () => measureLines(stage, textMegabytes * MIB, rounds))
    const missing = new Map<string, string>([...stage.missing, ...lines.failed])
    const about = { machine: machine(), versions: versions(stage), rounds, textMegabytes, missing }
    return { ...about, puts, http, lines: lines.figures, elisions, findings }
  } finally {
    await stage.close()
  }
}

function machine(): string {
  const memory = Math.round(totalmem() / BYTES_PER_GIB)
  const model = cpus()[0]?.model.trim() ?? 'an unknown processor'
  return `${cpus().length} cores of ${model}, ${memory} GiB, Node ${process.versions.node}`
}

function versions(stage: Stage): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const packages = Object.entries(dependencies).map(([name, version]) => `\`${name}\` ${version}`)
  const servers = [...stage.versions].map(([name, version]) => `${SERVERS[name]} ${version}`)
  return [...packages, ...servers]
}
