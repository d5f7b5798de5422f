// The glossary defines every term of the API: each member, parameter and header of the OpenAPI document, each problem code
// and each setting. It names nothing that the API does not have.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ConfigSchema } from '../../src/config.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const GLOSSARY = read('docs/reference/glossary.md')
/** Examples hold callers' JSON, whose members are no terms of ours. */
const CALLERS_JSON = new Set(['example', 'examples'])

describe('the glossary', () => {
  it('defines every member, parameter and header of the API, and no other', () => {
    const rows = [...section('Members').matchAll(/^\| `([^`]+)` \| \S/gm)].map((match) => match[1])
    expect(rows.toSorted()).toEqual([...membersOf(parse(read('openapi.yaml')))].toSorted())
  })

  it('names every problem code, and no other', () => {
    expect(namesIn(section('Problem codes'))).toEqual([...ERROR_CODES].toSorted())
  })

  it('names every setting, and no other', () => {
    expect(namesIn(section('Settings'))).toEqual(Object.keys(ConfigSchema.properties).toSorted())
  })

  it('defines each term once', () => {
    const terms = [...section('Terms').matchAll(/^\| ([^|]+) \|/gm)].map((match) => match[1])
    expect(terms).toEqual([...new Set(terms)])
  })
})

function section(title: string): string {
  const found = GLOSSARY.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  if (found === undefined) throw new Error(`the glossary has no section "${title}"`)
  return found
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '').toSorted()
}

/** Names of all `properties` and parameters in the document. */
function membersOf(document: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (key: string, value: unknown): unknown => {
    if (CALLERS_JSON.has(key)) return undefined
    if (key === 'properties' && isObject(value))
      for (const name of Object.keys(value)) found.add(name)
    if (isObject(value) && 'in' in value && typeof value['name'] === 'string')
      found.add(value['name'])
    return value
  }
  JSON.stringify(document, visit)
  return found
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
