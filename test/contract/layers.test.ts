// The table of layers in CONTRIBUTING.md and the lint configuration say the same of every import between layers: each file of
// src is imported by a probe in each layer, the lint judges the probe, and the verdict is compared with the table.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BIOME = join(ROOT, 'node_modules/.bin/biome')
const ROW = /^\| `(src\/[^`]+)` \| ([^|]+) \|/
const CODE = /`([^`]+)`/g
const EVERY_MESSAGE = [
  '--only=style/noRestrictedImports',
  '--reporter=json',
  '--max-diagnostics=none',
]
/** A probe at the top of a layer, and one in each kind of room below it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/core': ['src/core', 'src/core/json', 'src/core/preview/kinds'],
  'src/validation': ['src/validation', 'src/validation/ajv'],
  'src/ledger': ['src/ledger', 'src/ledger/sqlite/rows'],
  'src/runs': ['src/runs'],
  'src/large-calls': ['src/large-calls'],
  'src/http': ['src/http', 'src/http/body', 'src/http/routes/runs'],
}
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  fastify: ['src/http', 'src/large-calls', 'src/service.ts'],
  'better-sqlite3': ['src/ledger', 'src/config.ts', 'src/service.ts'],
  'node:fs': [
    'src/validation',
    'src/ledger',
    'src/runs',
    'src/http',
    'src/large-calls',
    'src/config.ts',
    'src/service.ts',
  ],
}

interface Layer {
  readonly name: string
  readonly mayImport: readonly string[]
}

interface Probe {
  readonly layer: Layer
  /** Path from the root of the project. */
  readonly file: string
  /** The imported file or package of each line. */
  readonly targets: readonly string[]
}

describe('the table of layers and the lint', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coatcheck-layers-'))
  const layers = layersInTable()
  const probes = layers.flatMap((layer) => probesOf(layer))
  let refused: ReadonlySet<string>

  beforeAll(() => {
    copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
    for (const probe of probes) writeProbe(folder, probe)
    refused = refusedImports(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('name every layer', () => {
    const names = layers.map(({ name }) => name)
    expect(names).toEqual([
      'src/core',
      'src/validation',
      'src/ledger',
      'src/runs',
      'src/http',
      'src/large-calls',
      'src/config.ts',
      'src/service.ts',
    ])
  })

  it.each(probes)('agree on every import by $file', ({ layer, file, targets }) => {
    const verdicts = targets.map((target, index) => ({
      target,
      refused: refused.has(`${file}:${index + 1}`),
    }))
    expect(
      verdicts.filter((verdict) => verdict.refused === allowed(layer, verdict.target)),
    ).toEqual([])
    expect(verdicts.some((verdict) => verdict.refused)).toBe(true)
  })
})

function layersInTable(): readonly Layer[] {
  const lines = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split('\n')
  return lines.flatMap((line) => {
    const row = ROW.exec(line)
    if (row === null) return []
    const [, name = '', list = ''] = row
    return [{ name, mayImport: [...list.matchAll(CODE)].map((match) => match[1] ?? '') }]
  })
}

function allowed(layer: Layer, target: string): boolean {
  const owners = PACKAGES[target]
  if (owners !== undefined) return owners.includes(layer.name)
  return layer.mayImport.some((name) => target === name || target.startsWith(`${name}/`))
}

function probesOf(layer: Layer): readonly Probe[] {
  const isFile = layer.name.endsWith('.ts')
  const files = isFile ? [layer.name] : (ROOMS[layer.name] ?? []).map((room) => `${room}/probe.ts`)
  // a layer's own rooms may be cut further by rules of their own, so only other layers are tried
  const foreign = sourceFiles().filter(
    (file) => !file.startsWith(`${layer.name}/`) && file !== layer.name,
  )
  const targets = [...foreign, ...packagesFor(layer)]
  return files.map((file) => ({ layer, file, targets }))
}

/** The settings and the composition root may use packages; no rule speaks of them. */
function packagesFor(layer: Layer): readonly string[] {
  return layer.name.endsWith('.ts') ? [] : Object.keys(PACKAGES)
}

function sourceFiles(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', 'src/*.ts'], { cwd: ROOT, encoding: 'utf8' })
  return listed.split('\n').filter((file) => file !== '')
}

function writeProbe(folder: string, { file, targets }: Probe): void {
  const lines = targets.map((target) => `import '${specifier(file, target)}'`)
  mkdirSync(join(folder, dirname(file)), { recursive: true })
  writeFileSync(join(folder, file), `${lines.join('\n')}\n`)
}

function specifier(from: string, target: string): string {
  if (target in PACKAGES) return target
  const path = relative(dirname(from), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** `path:line` of every import that the lint refuses. */
function refusedImports(folder: string): ReadonlySet<string> {
  const run = spawnSync(BIOME, ['lint', ...EVERY_MESSAGE, '.'], { cwd: folder, encoding: 'utf8' })
  const report = JSON.parse(run.stdout) as Report // Biome's own format; a change of it fails the test
  return new Set(
    report.diagnostics.map(({ location }) => `${location.path}:${location.start.line}`),
  )
}

interface Report {
  readonly diagnostics: readonly {
    readonly location: { readonly path: string; readonly start: { readonly line: number } }
  }[]
}
