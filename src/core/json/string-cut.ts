/**
 * Where the inside of a string token may be cut, so that each part can be decoded alone.
 */

const BACKSLASH = 0x5c
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
const UNICODE_ESCAPE_BYTES = 6

/** The first place at or after `target` that splits no escape, surrogate pair, code point, or CR LF. `from` is one, too. */
export function cutString(bytes: Buffer, from: number, target: number): number {
  // The search must not run on: what follows may be far longer than a chunk.
  const chunk = bytes.subarray(0, target)
  let pos = from
  let afterCr = false
  while (pos < target) {
    const backslash = chunk.indexOf(BACKSLASH, pos)
    if (backslash < 0) return onCodePoint(bytes, target)
    pos = backslash + escapeBytes(bytes, backslash)
    afterCr = isEscapeOf(bytes, backslash, /^(?:r|u000d)/i)
  }
  return afterCr && isEscapeOf(bytes, pos, /^(?:n|u000a)/i) ? pos + escapeBytes(bytes, pos) : pos
}

function onCodePoint(bytes: Buffer, target: number): number {
  let pos = target
  while (((bytes[pos] as number) & 0xc0) === 0x80) pos++
  return pos
}

/** How many bytes the escape at `pos` takes; two that form a surrogate pair are one. */
function escapeBytes(bytes: Buffer, pos: number): number {
  if (bytes[pos + 1] !== LOWER_U) return SHORT_ESCAPE_BYTES
  const next = pos + UNICODE_ESCAPE_BYTES
  const pair = isEscapeOf(bytes, pos, /^ud[89ab]/i) && isEscapeOf(bytes, next, /^ud[c-f]/i)
  return pair ? 2 * UNICODE_ESCAPE_BYTES : UNICODE_ESCAPE_BYTES
}

/** Whether an escape begins at `pos` that goes on as `what` says. */
const isEscapeOf = (bytes: Buffer, pos: number, what: RegExp): boolean =>
  bytes[pos] === BACKSLASH &&
  what.test(bytes.toString('latin1', pos + 1, pos + UNICODE_ESCAPE_BYTES))
