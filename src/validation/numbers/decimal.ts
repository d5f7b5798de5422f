/**
 * Decimal numbers as written, compared and divided by their digits: 9007199254740993 is not
 * 9007199254740992, but 1, 1.0 and 1e0 are one number. The cost depends on the number of digits,
 * not on the exponent. Exponents beyond {@link EXPONENT_MOST} count as that. Such numbers compare
 * correctly with all others, but not with each other.
 */
const TOKEN = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?)0*([0-9]*))?$/
const EXPONENT_MOST = 10 ** 15
const EXPONENT_DIGITS = 15
const INTEGER = /^-?[1-9][0-9]*$/

/**
 * Value `sign * 0.digits * 10^exponent`, without zeros at either end of the digits. Zero has no
 * digits, sign 0 and exponent 0.
 */
interface Decimal {
  readonly sign: -1 | 0 | 1
  readonly digits: string
  readonly exponent: number
}

/** Reads a number token of JSON, or the text that `String` gives for a finite number. */
function decimalOf(token: string): Decimal {
  const [, minus, whole = '', fraction = '', sign, power = ''] = TOKEN.exec(token) ?? []
  const all = whole + fraction
  const first = all.search(/[1-9]/)
  if (first < 0) return { sign: 0, digits: '', exponent: 0 }
  let end = all.length
  while (all.charCodeAt(end - 1) === 0x30) end--
  const size = power.length > EXPONENT_DIGITS ? EXPONENT_MOST : Number(power)
  const exponent = (sign === '-' ? -size : size) + whole.length - first
  return { sign: minus === '-' ? -1 : 1, digits: all.slice(first, end), exponent }
}

/**
 * Compares two number tokens: negative, zero or positive as `a` is less than, equal to or greater
 * than `b`.
 */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [decimalOf(a), decimalOf(b)]
  if (left.sign !== right.sign) return left.sign - right.sign
  if (left.exponent !== right.exponent) return left.sign * (left.exponent - right.exponent)
  if (left.digits === right.digits) return 0
  return left.digits < right.digits ? -left.sign : left.sign
}

/** A text that is the same for equal numbers and no others. */
export function decimalKey(token: string): string {
  const { sign, digits, exponent } = decimalOf(token)
  return `${sign < 0 ? '-' : ''}0.${digits}e${exponent}`
}

/** Whether the number has no fraction, in any spelling. */
export function isWhole(token: string): boolean {
  if (INTEGER.test(token)) return true
  const { digits, exponent } = decimalOf(token)
  return exponent >= digits.length
}

/** Whether the nearest double prints as the same number. Such tokens compare as doubles do. */
export function isExact(token: string): boolean {
  const value = Number(token)
  const printed = String(value)
  if (printed === token) return true
  // Both consist of digits only, so equal numbers would have equal texts.
  if (INTEGER.test(token) && INTEGER.test(printed)) return false
  return Number.isFinite(value) && decimalKey(printed) === decimalKey(token)
}

/** Whether `token` is a whole multiple of `step`. `step` must not be zero. */
export function isMultipleOf(token: string, step: string): boolean {
  const [a, b] = [decimalOf(token), decimalOf(step)]
  if (a.sign === 0) return true
  // With both scaled so that `step` is a whole number B, `token` is A * 10^shift. A is whole and
  // not divisible by ten.
  const shift = a.exponent - a.digits.length - (b.exponent - b.digits.length)
  const divisor = BigInt(b.digits)
  // With a negative shift `token` is not whole in these units, since A is not divisible by ten.
  return shift >= 0 && (BigInt(a.digits) * powerOfTen(shift, divisor)) % divisor === 0n
}

/**
 * Computes `10 ** exponent % modulus` in a number of steps that grows with the logarithm of
 * `exponent`.
 */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let [result, base] = [1n % modulus, 10n % modulus]
  for (let left = BigInt(exponent); left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * base) % modulus
    base = (base * base) % modulus
  }
  return result
}
