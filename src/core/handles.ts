/**
 * Names of results: handles, and ids in the recall calls of notes.
 */
const HANDLE = /^r([1-9][0-9]*)$/
const RECALL_HANDLE = /^\$?r([1-9][0-9]*)$/

/**
 * Handle of a result.
 *
 * @example handleOf(3) // 'r3'
 */
export const handleOf = (number: number): string => `r${number}`

/**
 * Number of a handle as it stands in paths; undefined for anything else.
 *
 * @example handleNumber('r3') // 3
 */
export const handleNumber = (handle: string): number | undefined => numberIn(HANDLE, handle)

/**
 * Number of a handle as recall takes it; undefined for anything else.
 *
 * @example recallHandleNumber('$r3') // 3
 */
export const recallHandleNumber = (id: string): number | undefined => numberIn(RECALL_HANDLE, id)

/**
 * Escapes an id for the inside of a JSON string in a note.
 *
 * @example escapeId('a"b') // 'a\\"b'
 */
export const escapeId = (id: string): string => JSON.stringify(id).slice(1, -1)

function numberIn(pattern: RegExp, text: string): number | undefined {
  const number = Number(pattern.exec(text)?.[1])
  return Number.isSafeInteger(number) ? number : undefined
}
