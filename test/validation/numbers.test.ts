// Numbers are compared by their digits, which doubles do not hold: 2^53 + 1 is the first whole number that is rounded.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import {
  compareDecimals,
  decimalKey,
  isExact,
  isMultipleOf,
  isWhole,
} from '../../src/validation/numbers/decimal.ts'
import { json, said } from './support.ts'

const verdict = (schema: string, value: string) =>
  new AjvValidator().validate(json(schema), json(value))
const accepts = async (schema: string, value: string) => (await verdict(schema, value)).valid

describe('numbers as they were written', () => {
  it.each<[schema: string, good: string, bad: string]>([
    // Fault: a format got the double alone, to which 2^63 is within 64 bits.
    ['{"format":"int64"}', '9223372036854775807', '9223372036854775808'],
    ['{"format":"int64"}', '-9223372036854775808', '-9223372036854775809'],
    ['{"format":"int64"}', '9223372036854775000', '9223372036854776000'],
    ['{"format":"int64"}', '9.223372036854775807e18', '9.223372036854775808e18'],
    ['{"format":"int64"}', '-9223372036854775000', '-9223372036854776000'],
    ['{"format":"int64"}', '1.0', '1.5'],
    ['{"format":"int64"}', '"9223372036854775808"', '1.00000000000000000001'],
    ['{"items":{"format":"int64"}}', '[1,9223372036854775807]', '[1,9223372036854775808]'],
    ['{"format":"int32"}', '2147483647', '2147483648'],
    ['{"format":"int32"}', '-2147483648', '-2147483648.00000000000000000001'],
    ['{"format":"date"}', '9007199254740993', '"2024-02-30"'],
    ['{"items":{"format":"ipv4"}}', '[9007199254740993,"1.2.3.4"]', '[9007199254740993,"1.2.3"]'],
    ['{"const":9007199254740993}', '9007199254740993', '9007199254740992'],
    ['{"const":9007199254740992}', '9007199254740992', '9007199254740993'],
    ['{"enum":["a",9007199254740993]}', '9007199254740993.0', '9007199254740992'],
    [
      '{"const":{"id":[9007199254740993]}}',
      '{"id":[9007199254740993]}',
      '{"id":[9007199254740992]}',
    ],
    ['{"maximum":9007199254740992}', '9007199254740992', '9007199254740993'],
    ['{"minimum":9007199254740993}', '9007199254740993', '9007199254740992'],
    ['{"exclusiveMaximum":9007199254740993}', '9007199254740992', '9007199254740993'],
    ['{"exclusiveMinimum":9007199254740992}', '9007199254740993', '9007199254740992'],
    ['{"maximum":0.3}', '0.3', '0.30000000000000001'],
    ['{"maximum":1e400}', '1e400', '1.1e400'],
    ['{"minimum":-1e400}', '-9e399', '-1e401'],
    ['{"exclusiveMinimum":0}', '1e-400', '-1e-400'],
    ['{"const":0}', '-0.0', '-1e-400'],
    ['{"multipleOf":2}', '9007199254740994', '9007199254740993'],
    ['{"multipleOf":9007199254740993}', '18014398509481986', '18014398509481984'],
    ['{"multipleOf":0.1}', '0.3', '0.35'],
    ['{"multipleOf":0.01}', '19.99', '19.999'],
    ['{"multipleOf":0.5}', '1e308', '1e-308'],
    ['{"multipleOf":3}', '3e999999999', '1e999999999'],
    [
      '{"uniqueItems":true}',
      '[9007199254740992,9007199254740993]',
      '[9007199254740993,9007199254740993.0]',
    ],
    ['{"uniqueItems":true}', '[{"a":1e400},{"a":1e401}]', '[{"a":1e400},{"a":10e399}]'],
    ['{"type":"integer"}', '1e400', '1e-400'],
    ['{"type":"integer"}', '9007199254740993.0', '9007199254740993.5'],
    ['{"items":{"maximum":9007199254740992}}', '[1,9007199254740992]', '[1,9007199254740993]'],
    [
      '{"$ref":"#/$defs/n","$defs":{"n":{"not":{"const":9007199254740993}}}}',
      '9007199254740992',
      '9007199254740993',
    ],
    [
      '{"properties":{"__proto__":{"const":9007199254740993}}}',
      '{"__proto__":9007199254740993}',
      '{"__proto__":9007199254740992}',
    ],
  ])('%s takes %s and not %s', async (schema, good, bad) => {
    expect([await accepts(schema, good), await accepts(schema, bad)]).toEqual([true, false])
  })

  it.each(['1', '1.0', '1e0', '10e-1', '0.1e+1', '1.000000000000000000000'])(
    '%s is 1',
    async (token) => {
      expect(await accepts('{"const":1}', token)).toBe(true)
      expect(await accepts(`{"enum":[${token}]}`, '1')).toBe(true)
    },
  )

  it('of a repeated member the last number counts', async () => {
    const schema = '{"properties":{"a":{"const":9007199254740993}}}'
    expect(await accepts(schema, '{"a":1,"a":9007199254740993}')).toBe(true)
    expect(await accepts(schema, '{"a":9007199254740993,"a":[9007199254740993]}')).toBe(false)
  })

  it('errors show the digits of both', async () => {
    expect(said(await verdict('{"maximum":9007199254740993}', '9007199254740995'))).toEqual([
      ' maximum: must be at most 9007199254740993',
    ])
    const { errors } = await verdict('{"enum":[9007199254740993,"a"]}', '9007199254740992')
    expect(errors[0]).toMatchObject({
      expected: 'one of 9007199254740993, "a"',
      received: 'number 9007199254740992',
    })
    expect(
      said(
        await verdict(
          '{"uniqueItems":true}',
          '[9007199254740992,9007199254740993,9007199254740993]',
        ),
      ),
    ).toEqual([' uniqueItems: must not repeat an item: items 1 and 2 are equal'])
    expect((await verdict('{"type":"string"}', '1e400')).errors[0]?.received).toBe('number 1e400')
  })

  it('a schema is compiled for rounded numbers only when one comes, and judges others as before', async () => {
    const validator = new AjvValidator()
    const schema = json('{"items":{"maximum":9007199254740992}}')
    const answers = []
    for (const value of ['[1]', '[9007199254740993]', '[1]', '[9007199254740993]']) {
      answers.push((await validator.validate(schema, json(value))).valid)
    }
    expect(answers).toEqual([true, false, true, false])
    expect(validator.stats).toEqual({ cached: 1, compilations: 1 })
  })
})

describe('decimals', () => {
  const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?$/)
  const token = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.option(fc.integer({ min: -30, max: 30 })))
    .map(([sign, text, power]) => `${sign}${text}${power === null ? '' : `e${power}`}`)
  const RUNS = { seed: 11, numRuns: 2_000 }
  /** In units of 10^-100, where all these tokens are whole. */
  const units = (text: string): bigint => {
    const [, sign, whole = '', fraction = '', power = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(text) ?? []
    const size = BigInt(whole + fraction) * 10n ** BigInt(100 + Number(power) - fraction.length)
    return sign === '-' ? -size : size
  }

  it('compare, divide and are equal as exact arithmetic says', () => {
    fc.assert(
      fc.property(token, token, (a, b) => {
        const [x, y] = [units(a), units(b)]
        expect(Math.sign(compareDecimals(a, b))).toBe(x < y ? -1 : x > y ? 1 : 0)
        expect(decimalKey(a) === decimalKey(b)).toBe(x === y)
        expect(isWhole(a)).toBe(x % 10n ** 100n === 0n)
        if (y !== 0n) expect(isMultipleOf(a, b)).toBe(x % y === 0n)
      }),
      RUNS,
    )
  })

  it('are exact where a double prints the same number', () => {
    fc.assert(
      fc.property(token, (a) => {
        expect(isExact(a)).toBe(units(a) === units(fixed(Number(a))))
      }),
      RUNS,
    )
    expect(
      ['1e999', '1e-999', '0.1', '5e-324', '1e21', '123456789012345680000'].map(isExact),
    ).toEqual([false, false, true, true, true, true])
  })

  it('cost what their digits do, whatever their exponent', () => {
    expect(compareDecimals('1e999999999', '1e999999998')).toBeGreaterThan(0)
    expect(compareDecimals('-1e99999999999999999999', '1')).toBeLessThan(0)
    expect(isMultipleOf('7e999999999999', '7')).toBe(true)
    expect(isMultipleOf('7', '7e999999999999')).toBe(false)
    expect(decimalKey('1e-99999999999999999999')).not.toBe(decimalKey('0'))
  })

  const fixed = (value: number): string => String(value).replace('e+', 'e')
})
