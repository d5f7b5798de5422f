/**
 * The `format` keyword. Ajv's own hands a format the value alone, which may be rounded: to it 2^63 is within 64 bits. Here that
 * one bound is held to the number as it was written; the other formats are those of `ajv-formats`.
 */
import type { Ajv } from 'ajv'
import { compareDecimals, isWhole } from './decimal.ts'

const INT64_LEAST = '-9223372036854775808'
const INT64_MOST = '9223372036854775807'

/** Whether a value, which also comes as it was written, has a format. */
export type FormatCheck = (value: unknown, written: () => string) => boolean

/** What a known format may be, of those that `ajv-formats` has. */
type Test = RegExp | ((value: unknown) => boolean)
type Known = true | Test | { readonly type?: 'number' | 'string'; readonly validate: Test }

/** What is no known format says nothing; nor does one of strings to a number, and the other way round. */
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
