/**
 * Memory that is given back at once. The collector looks after bytes, too, but works hard for those that come and go: large
 * bodies would cost it as much time as they cost to keep.
 */

/** Frees the memory of `bytes` where they are all of it. Nobody may have them any more: they are empty after. */
export function free(bytes: Uint8Array): void {
  if (bytes.buffer.byteLength === bytes.byteLength) freeWithRest(bytes)
}

/** The same with what else is in that memory. */
export function freeWithRest({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
