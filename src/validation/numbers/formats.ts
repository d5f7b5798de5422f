/**
 * The `format` keyword. Ajv passes only the value to a format, which may be rounded: 2^63 would be
 * an int64. Here the bounds of `int64` are checked on the number as written. Other formats are
 * those of `ajv-formats`.
 */
import type { Ajv } from 'ajv'
import { compareDecimals, isWhole } from './decimal.ts'

const INT64_LEAST = '-9223372036854775808'
const INT64_MOST = '9223372036854775807'

/** Whether a value has a format. `written` gives a number as it was written. */
export type FormatCheck = (value: unknown, written: () => string) => boolean

/** Definition of a format, in the shapes that `ajv-formats` uses. */
type Test = RegExp | ((value: unknown) => boolean)
type Known = true | Test | { readonly type?: 'number' | 'string'; readonly validate: Test }

/**
 * Makes the check of a format. Unknown formats accept every value. A format for strings accepts
 * every number, and a format for numbers every string.
 */
export function formatCheck(name: string, formats: Ajv['formats']): FormatCheck {
  if (name === 'int64') return (value, written) => typeof value !== 'number' || isInt64(written())
  const known = Object.hasOwn(formats, name) ? (formats[name] as Known) : true
  if (known === true) return () => true
  const { type = 'string', validate } = 'validate' in known ? known : { validate: known }
  const test =
    validate instanceof RegExp ? (text: unknown) => validate.test(text as string) : validate
  return (value) => typeof value !== type || test(value)
}

const isInt64 = (token: string): boolean =>
  isWhole(token) &&
  compareDecimals(token, INT64_LEAST) >= 0 &&
  compareDecimals(token, INT64_MOST) <= 0
