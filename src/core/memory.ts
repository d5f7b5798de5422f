/**
 * Gives memory back at once. The garbage collector would free these bytes too, but collecting many
 * large short-lived bodies costs it as much time as storing them.
 */

/**
 * Frees the memory of `bytes` if they are all of their `ArrayBuffer`. The bytes are empty
 * afterwards; nobody may use them.
 *
 * @example ((one) => (free(one), one.length))(new Uint8Array(2)) // 0
 */
export function free(bytes: Uint8Array): void {
  if (bytes.buffer.byteLength === bytes.byteLength) freeWithRest(bytes)
}

/**
 * Frees the whole `ArrayBuffer` of `bytes`, with everything else in it.
 *
 * @example ((one) => (freeWithRest(one), one.length))(new Uint8Array(2).subarray(1)) // 0
 */
export function freeWithRest({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
