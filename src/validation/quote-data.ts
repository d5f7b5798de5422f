/** Short extracts of callers' data for messages. They are well-formed and clipped. */
import { charsOf, firstChars } from '../core/text.ts'
import { SAMPLE_CHARS, SAMPLE_ENTRIES } from './limits.ts'

const ELLIPSIS = '…'

const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** Cuts `text` to at most `budgetBytes` bytes, as encoded in JSON without the quotes. */
export function clip(text: string, budgetBytes: number): string {
  // A UTF-16 unit takes at least one byte, so text beyond the budget is not looked at.
  const start = text.slice(0, budgetBytes + 1).toWellFormed()
  if (encodedBytes(start) <= budgetBytes) return start
  let clipped = ''
  let leftBytes = budgetBytes - encodedBytes(ELLIPSIS)
  for (const char of start) {
    leftBytes -= encodedBytes(char)
    if (leftBytes < 0) break
    clipped += char
  }
  return clipped + ELLIPSIS
}

/** `text` as a JSON string, clipped to {@link SAMPLE_CHARS} characters. */
export function quote(text: string): string {
  const sample = firstChars(text, SAMPLE_CHARS)
  const quoted = JSON.stringify(sample.toWellFormed())
  return sample.length === text.length ? quoted : `${quoted.slice(0, -1)}${ELLIPSIS}"`
}

/** The first entries, written by `word`, and the number of those left out. */
export function list(
  entries: readonly unknown[],
  word: (entry: unknown, index: number) => string = show,
): string {
  if (entries.length === 0) return '(none)'
  const shown = entries.slice(0, SAMPLE_ENTRIES).map(word).join(', ')
  const hidden = entries.length - SAMPLE_ENTRIES
  return hidden > 0 ? `${shown} and ${hidden} more` : shown
}

/** A scalar as JSON, or the shape of an array or object. */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `an array of ${count(value.length, 'item')}`
  if (typeof value === 'object' && value !== null) return `an object (${names(value)})`
  return String(value)
}

/** The JSON type of a value and a sample. `token` is a number as it was written. */
export function receivedText(value: unknown, token?: string): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `array of ${count(value.length, 'item')}`
  if (typeof value === 'object') return `object (${names(value)})`
  if (typeof value !== 'string')
    return `${typeof value} ${firstChars(token ?? String(value), SAMPLE_CHARS)}`
  const chars = charsOf(value)
  return chars > SAMPLE_CHARS ? `string ${quote(value)} (${chars} chars)` : `string ${quote(value)}`
}

/** A number with its noun, in the plural unless `n` is 1. */
export function count(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`
}

function names(value: object): string {
  const keys = Object.keys(value)
  return keys.length === 0 ? 'no members' : `members ${list(keys)}`
}
