/**
 * How results are called: handles, and the id by which a note tells the model to recall one.
 */
const HANDLE = /^r([1-9][0-9]*)$/
const RECALL_HANDLE = /^\$?r([1-9][0-9]*)$/

/** `r3` for 3. */
export const handleOf = (number: number): string => `r${number}`

/** The number of a handle as the API has it in paths: `r3`. */
export const handleNumber = (handle: string): number | undefined => numberIn(HANDLE, handle)

/** The number of a handle as recall takes it: `r3` or `$r3`. */
export const recallHandleNumber = (id: string): number | undefined => numberIn(RECALL_HANDLE, id)

/** An id as it stands inside the quotes of a JSON string: how notes paste it. */
export const escapeId = (id: string): string => JSON.stringify(id).slice(1, -1)

function numberIn(pattern: RegExp, text: string): number | undefined {
  const number = Number(pattern.exec(text)?.[1])
  return Number.isSafeInteger(number) ? number : undefined
}
