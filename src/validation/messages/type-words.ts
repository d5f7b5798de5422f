/**
 * Texts about types. Models often send a member as JSON text in a string. Validation does not parse
 * such strings, so the message tells the model.
 */
import { SAMPLE_CHARS } from '../limits.ts'

/** Patterns of strings that hold a scalar, by type. */
const SCALARS: ReadonlyMap<string, RegExp> = new Map([
  ['integer', /^-?\d+$/],
  ['number', /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/],
  ['boolean', /^(?:true|false)$/],
  ['null', /^null$/],
])

const article = (type: string): string => {
  if (type === 'null') return type
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`
}

/** The expected types with their articles. */
export function typesText(types: readonly string[]): string {
  return types.map(article).join(' or ')
}

/**
 * End of a sentence: the type that was received. For a string that holds the expected value it adds
 * how to correct it.
 */
export function mismatchText(types: readonly string[], data: unknown): string {
  if (typeof data !== 'string') return `, not ${article(typeOf(data))}`
  const text = data.slice(0, 1).concat(data.slice(-1))
  const holds = types.find(
    (type) => (type === 'array' && text === '[]') || (type === 'object' && text === '{}'),
  )
  if (holds !== undefined) {
    return `, not a string that holds JSON: send the ${holds} itself, without quotes and escapes around it`
  }
  const isMeant = data.length <= SAMPLE_CHARS && types.some((type) => SCALARS.get(type)?.test(data))
  return isMeant ? `, not a string: send ${data} without quotes` : ', not a string'
}

function typeOf(data: unknown): string {
  if (data === null) return 'null'
  return Array.isArray(data) ? 'array' : typeof data
}
