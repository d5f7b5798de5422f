/**
 * Where a line of a preview points: the part of a reference after its handle. A path of plain names
 * and indices is written with dots; any other is a JSON Pointer, in quotes.
 */
import { pointerEscape } from '../../json/path.ts'
import { excerpt, isBareName } from '../excerpt.ts'

/** Stands for the index of every element, or the name of every member of a map. */
export const ANY = '*'
const INDEX = /^\d+$/

/** Names and indices from the root. */
export type PlacePath = readonly string[]

/** `.rows.0.id`, or `"#/a b/0"`; at most `maxBytes` bytes. Empty for the root. */
export function placeLabel(path: PlacePath, maxBytes: number): string {
  if (path.length === 0) return ''
  if (path.every((step) => isBareName(step) || INDEX.test(step) || step === ANY)) {
    const label = path.map((step) => `.${step}`).join('')
    if (label.length <= maxBytes) return label
  }
  return excerpt(`#${path.map((step) => `/${pointerEscape(step)}`).join('')}`, maxBytes).text
}
