import { hash } from 'node:crypto'

/** How many hexadecimal digits of a digest tell slots apart: 1,048,576 slots a tenant. */
const SLOT_DIGITS = 5
const HEX = 16

/** The slot that the last number of a purged run is kept in: the first 20 bits of the SHA-256 of its name. */
export const purgedSlot = (run: string): number =>
  Number.parseInt(hash('sha256', run).slice(0, SLOT_DIGITS), HEX)
