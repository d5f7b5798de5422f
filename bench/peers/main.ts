/**
 * `npm run bench:peers`: coatcheck and what one would use instead, in one run. Starts all it needs, prints tables, and
 * writes them to docs/reference/benchmarks-peers.md when all of it has run. `-- --help` lists its options.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { documentOf } from './document.ts'
import { MIB } from './inputs.ts'
import { optionsOrEnd } from './options.ts'
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
const TEXT_MEGABYTES = 100
const QUICK_TEXT_MEGABYTES = 10
const BYTES_PER_GIB = 1024 * MIB
/** One for each process that has to end with this one. */
const EXIT_LISTENERS = 64
const INTERRUPTED = 130

const options = optionsOrEnd()
process.setMaxListeners(EXIT_LISTENERS)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(INTERRUPTED))

const text = documentOf(await measureAll())
console.log(text)
if (options.write) writeFileSync(DOCUMENT, text)

async function measureAll(): Promise<Results> {
  const { rounds, quick, parts } = options
  const textMegabytes = quick ? QUICK_TEXT_MEGABYTES : TEXT_MEGABYTES
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
