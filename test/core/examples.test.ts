// Each function of the core that other layers import has an `@example` in its docstring, and every example is true:
// `@example expression // value`. Expressions see all exports of the core, `json(text)` (a scanned value), `bytes(text)`, and
// Node's Buffer.
import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/core/json/scan.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMPORT = /import \{([^}]*)\} from '(\.[^']+)'/g
const EXPORTED =
  /^export (?:async )?(?:function\*? (\w+)|const (\w+) = (?:async )?(?:<[^>]*>)?\()/gm
const EXAMPLE = /@example (.+?) \/\/ (.+)$/gm

const files = sources('src')
const core = files.filter((file) => file.startsWith('src/core/'))
const modules = await Promise.all(core.map((file) => import(join(ROOT, file))))
const scope: Readonly<Record<string, unknown>> = {
  ...Object.assign({}, ...modules),
  bytes: (text: string) => Buffer.from(text),
  json: (text: string) => parseJson(Buffer.from(text)),
  Buffer,
}

describe('functions of the core that other layers call', () => {
  it.each(core.filter((file) => usedOutside(file).length > 0))('have an example in %s', (file) => {
    const source = read(file)
    const missing = usedOutside(file).filter((name) => !docOf(source, name).includes('@example'))
    expect(missing).toEqual([])
  })
})

describe('examples', () => {
  const examples = core.flatMap((file) =>
    [...read(file).matchAll(EXAMPLE)].map(([, expression = '', value = '']) => ({
      expression,
      value,
    })),
  )

  it.each(examples)('$expression // $value', async ({ expression, value }) => {
    expect(plain(await evaluate(expression))).toEqual(plain(await evaluate(value)))
  })
})

function evaluate(expression: string): unknown {
  return new Function(...Object.keys(scope), `return (${expression})`)(...Object.values(scope))
}

/** Without classes and undefined members, so that a literal can stand for any value. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** Functions of a file that files outside of the core import. */
function usedOutside(file: string): readonly string[] {
  const functions = new Set(
    [...read(file).matchAll(EXPORTED)].map(([, name, constant]) => name ?? constant),
  )
  const used = files
    .filter((other) => !other.startsWith('src/core/'))
    .flatMap((other) => importsOf(other, file))
  return [...new Set(used)].filter((name) => functions.has(name)).toSorted()
}

function importsOf(importer: string, file: string): readonly string[] {
  return [...read(importer).matchAll(IMPORT)]
    .filter(([, , path = '']) => normalize(join(importer, '..', path)) === file)
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim().split(' as ')[0] ?? ''))
}

/** The docstring right before the export of `name`. */
function docOf(source: string, name: string): string {
  const at = source.search(new RegExp(`^export (?:async )?(?:function\\*? |const )${name}\\b`, 'm'))
  const before = source.slice(0, at).trimEnd()
  return before.endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : ''
}

function sources(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
