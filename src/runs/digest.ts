/** Digests: of values, of canonical text, and of what tells two failures apart. */
import { createHash } from 'node:crypto'

export function sha256Hex(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
