/** Computes digests of values, of canonical text, and of failures that are compared. */
import { hash } from 'node:crypto'

/** SHA-256 digest in lower-case hex. */
export function sha256Hex(bytes: Buffer | string): string {
  return hash('sha256', bytes, 'hex')
}
