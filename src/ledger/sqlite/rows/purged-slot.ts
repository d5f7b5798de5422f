import { hash } from 'node:crypto'

/** Hexadecimal digits of a digest that form a slot: 1,048,576 slots for each tenant. */
const SLOT_DIGITS = 5
const HEX = 16

/** Slot for the last number of a purged run: the first 20 bits of the SHA-256 of its name. */
export const purgedSlot = (run: string): number =>
  Number.parseInt(hash('sha256', run).slice(0, SLOT_DIGITS), HEX)
