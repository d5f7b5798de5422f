/**
 * Numbers as they are read: one unit each, as many digits as mean something.
 */

const MEGABYTE_BYTES = 1_000_000
const GIGABYTE_MEGABYTES = 1_000
const DIGITS = 3

const number = new Intl.NumberFormat('en-US', { maximumSignificantDigits: DIGITS })
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export const perSecond = (value: number): string => `${whole.format(value)}/s`
export const ms = (value: number): string => `${number.format(value)} ms`
export const megabytesPerSecond = (value: number): string => `${number.format(value)} MB/s`

/** Megabytes of 1,000,000 bytes. */
export const inMegabytes = (bytes: number): number => bytes / MEGABYTE_BYTES
export const megabytes = (bytes: number): string => `${number.format(inMegabytes(bytes))} MB`

/** A size in the name of a row: `1 GB`, `100 MB`. */
export function size(bytes: number): string {
  const all = inMegabytes(bytes)
  return all < GIGABYTE_MEGABYTES ? `${all} MB` : `${all / GIGABYTE_MEGABYTES} GB`
}

export const count = (value: number): string => whole.format(value)
export const figure = (value: number, unit: 'x' | 'MB'): string =>
  unit === 'x' ? number.format(value) : `${number.format(value)} MB`
