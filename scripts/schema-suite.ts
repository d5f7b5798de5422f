/**
 * Runs the cases of the JSON Schema test suite: `npm run schema-suite -- FOLDER` with a checkout of
 * json-schema-org/JSON-Schema-Test-Suite. Prints the number of cases with the expected outcome, and
 * all deviations that docs/reference/schema-suite.md does not list. Exits 1 for such a deviation.
 * With `--write` it writes the list instead. Documents that the suite serves by HTTP are put under
 * "$defs", since nothing is fetched. Does nothing without the folder.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { CoatcheckError } from '../src/core/errors.ts'
import { JsonSlice } from '../src/core/json/slice.ts'
import { AjvValidator } from '../src/validation/ajv/ajv-validator.ts'
import { scriptOptions } from './options.ts'

const PAGE = new URL('../docs/reference/schema-suite.md', import.meta.url)
const LIST = /(?<=```text\n)[^`]*(?=```)/
const DRAFTS: readonly Draft[] = [
  { name: 'draft-07', folder: 'draft7', uri: 'http://json-schema.org/draft-07/schema#' },
  { name: '2019-09', folder: 'draft2019-09', uri: 'https://json-schema.org/draft/2019-09/schema' },
  { name: '2020-12', folder: 'draft2020-12', uri: 'https://json-schema.org/draft/2020-12/schema' },
]
const REMOTES = 'http://localhost:1234/'
const MOST_REMOTES = 20

interface Case {
  readonly description: string
  readonly schema: unknown
  readonly tests: readonly Test[]
}

interface Test {
  readonly description: string
  readonly data: unknown
  readonly valid: boolean
}

interface Draft {
  readonly name: string
  readonly folder: string
  /** `$schema` for cases that name no dialect. */
  readonly uri: string
}

/** Deviations in words, with the drafts in which they occur. */
type Differences = Map<string, string[]>

const { flags, files } = scriptOptions({
  command: 'npm run schema-suite -- FOLDER',
  does: 'Runs the cases of a checkout of json-schema-org/JSON-Schema-Test-Suite.',
  flags: { write: 'write the list of differences' },
  files: true,
})

const validator = new AjvValidator()
const slice = (value: unknown): JsonSlice => new JsonSlice(Buffer.from(JSON.stringify(value)))
const folder = files[0] ?? ''
if (folder === '' || !existsSync(join(folder, 'tests'))) console.log('no test suite there: skipped')
else await judgeAll(folder)

async function judgeAll(root: string): Promise<void> {
  const differences: Differences = new Map()
  for (const draft of DRAFTS) await judgeDraft(root, draft, differences)
  const lines = [...differences].map(([text, drafts]) => `${text} (${drafts.join(', ')})\n`).sort()
  const page = readFileSync(PAGE, 'utf8')
  if (flags.write) {
    writeFileSync(
      PAGE,
      page.replace(LIST, () => lines.join('')),
    )
    return
  }
  const listed = (LIST.exec(page)?.[0] ?? '').split(/(?<=\n)/)
  report('as expected, though listed', without(listed, lines))
  if (report('not listed', without(lines, listed)) > 0) process.exitCode = 1
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return lines.filter((line) => !known.has(line))
}

function report(what: string, lines: readonly string[]): number {
  for (const line of lines) console.log(`${what}: ${line.trimEnd()}`)
  console.log(`${lines.length} ${what}`)
  return lines.length
}

async function judgeDraft(root: string, draft: Draft, differences: Differences): Promise<void> {
  const { name } = draft
  const tests = join(root, 'tests', draft.folder)
  let [asExpected, otherwise] = [0, 0]
  for (const file of filesIn(tests)) {
    const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8'))
    for (const each of cases) {
      const different = await judgeCase(root, { ...each, schema: dialected(each.schema, draft) })
      asExpected += each.tests.length - different.length
      otherwise += different.length
      for (const test of different) {
        const text = `${relative(tests, file)}: ${each.description} / ${test}`
        differences.set(text, [...(differences.get(text) ?? []), name])
      }
    }
  }
  console.log(`${name}: ${asExpected} as expected, ${otherwise} not`)
}

function filesIn(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => join(path, file))
}

async function judgeCase(root: string, { schema, tests }: Case): Promise<readonly string[]> {
  const bundled = await bundle(root, schema)
  const found: string[] = []
  for (const { description, data, valid } of tests) {
    const verdict = await verdictOf(bundled, data)
    if (verdict !== valid) found.push(`${description}: expected ${valid}, got ${verdict}`)
  }
  return found
}

async function verdictOf(schema: unknown, data: unknown): Promise<boolean | string> {
  try {
    const { valid, errors } = await validator.validate(slice(schema), slice(data))
    return errors[0]?.code === 'unchecked' ? 'unchecked' : valid
  } catch (error) {
    if (error instanceof CoatcheckError) return error.code
    throw error
  }
}

/** The schema with the documents that it refers to, added one by one while it lacks one of them. */
async function bundle(root: string, schema: unknown): Promise<unknown> {
  if (typeof schema !== 'object' || schema === null) return schema
  const documents: Record<string, unknown> = {}
  let whole: object = schema
  for (let i = 0; i < MOST_REMOTES; i++) {
    const url = await missingRemote(whole)
    const file = join(root, 'remotes', url?.slice(REMOTES.length) ?? '')
    if (url === undefined || !existsSync(file) || url in documents) break
    documents[url] = identified(JSON.parse(readFileSync(file, 'utf8')), url)
    whole = {
      ...schema,
      $defs: { ...('$defs' in schema ? (schema.$defs as object) : {}), ...documents },
    }
  }
  return whole
}

function dialected(schema: unknown, { uri }: Draft): unknown {
  return typeof schema === 'object' ? { $schema: uri, ...schema } : schema
}

/**
 * A document with its URL as its id. A document that has another id is put inside a schema with
 * that URL.
 */
function identified(document: unknown, url: string): unknown {
  if (typeof document !== 'object' || document === null) return document
  const isOther = '$id' in document && document.$id !== url
  return isOther ? { $id: url, allOf: [document] } : { ...document, $id: url }
}

async function missingRemote(schema: object): Promise<string | undefined> {
  try {
    await validator.compile(slice(schema))
    return undefined
  } catch (error) {
    const facts = error instanceof CoatcheckError ? error.facts : {}
    const uri = facts['reference'] ?? facts['dialect']
    if (typeof uri !== 'string' || !uri.startsWith(REMOTES)) return undefined
    return uri.replace(/#.*$/, '')
  }
}
