// What strangers send: texts and JSON texts that have broken one parser or another. Knows nothing of src/.
import fc from 'fast-check'
import { docs, gaps, nested, spaced } from '../support/json.ts'

const LONG_CHARS = 3_000
const WIDE_ITEMS = 4_000
const DEEP_LEVELS = [1_000, 1_024, 1_025, 5_000]

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...['', ' ', '.', '..', '/', '\\', '../../etc/passwd', '%', '%00', '%2e%2e%2f', '%zz', '~1'],
      ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '10', '-0', '1e999'],
      ...[
        '\0',
        '\r\n',
        '\u2028',
        '\ufeff',
        '\ud800',
        '\udfff\ud800',
        '\u202e',
        'é',
        '😀',
        'e\u0301',
      ],
      ...['null', 'true', 'NaN', '{}', '[]', '"', "'", '`', '<script>', '{{7*7}}', "' OR 1=1 --"],
      ...['r1', '$r1', '$r1.', '$r1#/', '$r1.rows.0', '$r01', '$r', '$r99999999999999999999', '$5'],
      ...[
        'r0',
        'r-1',
        'r1~2',
        '*',
        ',',
        ';',
        '"a"',
        'W/"a"',
        'bytes=',
        '9007199254740993',
        '[Omitted',
      ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('a', '😀', '\u2028', '"', '\\', '\n', '$r1 ', 'word ')
      .map((part) => part.repeat(LONG_CHARS)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
)

export const quoted = (text: string): string => JSON.stringify(text)

const anyNumber = fc.constantFrom(
  ...['0', '-0', '1', '-1', '1.0', '1e2', '1e400', '1e-400', '0.1', '2147483648', '4294967296'],
  ...[
    '9007199254740992',
    '9007199254740993',
    '18446744073709551616',
    '123456789012345678901234567890',
  ],
)

const wide: fc.Arbitrary<string> = fc.constantFrom(
  `[${'0,'.repeat(WIDE_ITEMS)}0]`,
  `[${'"$r1",'.repeat(WIDE_ITEMS)}""]`,
  `{${Array.from({ length: WIDE_ITEMS }, (_, n) => `"k${n}":${n}`).join(',')}}`,
  `{${'"a":1,'.repeat(WIDE_ITEMS)}"a":2}`,
  `[${'[],{},'.repeat(WIDE_ITEMS)}[]]`,
  quoted('line\n'.repeat(WIDE_ITEMS * 2)),
  quoted('x'.repeat(WIDE_ITEMS * 10)),
)

const deep: fc.Arbitrary<string> = fc
  .constantFrom(...DEEP_LEVELS)
  .chain((levels) =>
    fc.constantFrom(
      '['.repeat(levels) + ']'.repeat(levels),
      `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`,
      '['.repeat(levels),
    ),
  )

export const ordinaryJson: fc.Arbitrary<string> = fc
  .record({ doc: docs(), gaps, levels: fc.constantFrom(0, 0, 0, 3) })
  .map(({ doc, gaps, levels }) => spaced(nested(doc, levels), gaps))

/** JSON of any kind; at times none at all. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: ordinaryJson },
  { weight: 4, arbitrary: hostileText.map(quoted) },
  { weight: 3, arbitrary: anyNumber },
  { weight: 3, arbitrary: fc.constantFrom('null', 'true', 'false', '[]', '{}', '[null]') },
  { weight: 1, arbitrary: wide },
  { weight: 1, arbitrary: deep },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '{', '"', 'NaN', "'a'", '[1,]', '01', '"\\x"', '"\t"', '{"a"}'),
  },
)
