/** Digests: of values, of canonical text, and of what tells two failures apart. */
import { hash } from 'node:crypto'

/** Hexadecimal digits. */
export function sha256Hex(bytes: Buffer | string): string {
  return hash('sha256', bytes, 'hex')
}
