/**
 * Hints of the extended format: how a model reaches the value after a preview. A hint names only
 * what works for the value.
 */
import { elementsOf, type JsonSlice, membersOf } from '../json/slice.ts'
import { decodeRaw } from '../json/strings.ts'
import { isBareName } from './excerpt.ts'

const EXAMPLE_NAME_CHARS = 64

/**
 * Hint for a JSON value under a handle. Starts with a line end.
 *
 * @example extendedHint('r1', json('[7]')) // '\n[full value kept — pass "$r1" as a tool argument for all of it, or "$r1.0" for a part]'
 */
export function extendedHint(handle: string, value: JsonSlice): string {
  const part = partOf(value)
  const place = part === undefined ? '' : `, or "$${handle}.${part}" for a part`
  return `\n[full value kept — pass "$${handle}" as a tool argument for all of it${place}]`
}

/** A step into the value that can be written with a dot; undefined without any. */
function partOf(value: JsonSlice): string | undefined {
  if (value.kind === 'array') return elementsOf(value).next().done === true ? undefined : '0'
  if (value.kind !== 'object') return undefined
  for (const { key } of membersOf(value)) {
    if (key.end - key.start > EXAMPLE_NAME_CHARS) continue
    const name = decodeRaw(key)
    if (isBareName(name)) return name
  }
  return undefined
}
