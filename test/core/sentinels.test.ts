import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CoatcheckError } from '../../src/core/errors.ts'
import { parseJson } from '../../src/core/json/scan.ts'
import { decodeRaw } from '../../src/core/json/strings.ts'
import {
  decodeSentinel,
  encodeFailure,
  encodeSuspension,
  errorChain,
  FAILURE_KINDS,
  type FailureKind,
  invalidInputMessage,
} from '../../src/core/sentinels.ts'
import { member, NumberToken, parseTree, type Tree, text, toJson, vectors } from '../vectors.ts'

const json = (source: string) => parseJson(Buffer.from(source))

/** The answer of a decode as the vectors spell it. */
function decoded(source: string): Tree {
  const answer = decodeSentinel(json(source))
  switch (answer.kind) {
    case 'output':
      return parseTree('{"suspension":null,"failure":null}')
    case 'suspension':
      return parseTree(
        `{"suspension":{"reason":${answer.reason},"input_schema":${answer.inputSchema}},"failure":null}`,
      )
    case 'failure':
      return parseTree(
        `{"suspension":null,"failure":{"kind":"${answer.failureKind}","message":${answer.message},"attempts":${answer.attempts}}}`,
      )
    default:
      return answer satisfies never
  }
}

/** The `output` member of a vector's input, as the file spells it: a repeated key stands. */
const outputText = (input: string) => input.slice(input.indexOf('"output":') + 9, -1)

describe('vectors of sentinels', () => {
  it.each([...vectors('sentinels')])('$name', ({ input, inputText, expected }) => {
    switch (text(member(input, 'op'))) {
      case 'encode_suspension': {
        const { value, text: reason } = encodeSuspension({
          reason: text(member(input, 'reason')),
          inputSchema: json(toJson(member(input, 'input_schema'))),
        })
        expect(`${value}`).toBe(toJson(expected))
        expect(decodeRaw(reason)).toBe(text(member(input, 'reason')))
        break
      }
      case 'encode_failure': {
        const attempts = member(input, 'attempts')
        const { value, text: message } = encodeFailure({
          kind: text(member(input, 'kind')) as FailureKind,
          message: text(member(input, 'message')),
          attempts: Number(attempts instanceof NumberToken && attempts.text),
        })
        expect(`${value}`).toBe(toJson(expected))
        expect(decodeRaw(message)).toBe(text(member(input, 'message')))
        break
      }
      default:
        expect(toJson(decoded(outputText(inputText)))).toBe(toJson(expected))
    }
  })
})

describe('vectors of error_chain', () => {
  const displays: Readonly<Record<FailureKind, readonly [string, string]>> = {
    handler: ['tool `', '` failed: '],
    invalid_input: ['input for tool `', '` did not match its schema: '],
    output_serialization: ['tool `', '` produced output that could not be serialized: '],
  }
  it.each([...vectors('error_chain')])('$name', ({ kind, input, expected }) => {
    if (kind !== 'from_error') {
      const messages = member(input, 'messages') as readonly string[]
      expect(errorChain(messages)).toBe(expected)
      return
    }
    const error = member(input, 'from_error')
    const [before, after] = displays[text(member(error, 'kind')) as FailureKind]
    const sources = member(error, 'source_messages') as readonly string[]
    const top = `${before}${text(member(error, 'tool'))}${after}${sources[0]}`
    const chain = member(error, 'wrapped') === true ? [top, ...sources] : [top]
    expect(errorChain(chain)).toBe(member(expected, 'message'))
  })
})

describe('a sentinel', () => {
  it('decodes to what was encoded, byte for byte', () => {
    const kinds = fc.constantFrom(...FAILURE_KINDS)
    const anyString = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(kinds, anyString, fc.nat(), fc.json(), (kind, said, attempts, schema) => {
        const failure = decodeSentinel(encodeFailure({ kind, message: said, attempts }).value)
        expect(failure).toMatchObject({ kind: 'failure', failureKind: kind })
        if (failure.kind === 'failure') {
          expect(decodeRaw(failure.message)).toBe(said)
          expect(`${failure.attempts}`).toBe(`${attempts}`)
        }
        const encoded = encodeSuspension({ reason: said, inputSchema: json(schema) })
        const suspension = decodeSentinel(encoded.value)
        expect(suspension.kind).toBe('suspension')
        if (suspension.kind === 'suspension') {
          expect(decodeRaw(suspension.reason)).toBe(said)
          expect(`${suspension.inputSchema}`).toBe(`${json(schema)}`)
          expect(suspension.reason).toMatchObject({
            start: encoded.text.start,
            end: encoded.text.end,
          })
        }
      }),
      { seed: 1 },
    )
  })

  it('passes a schema and escapes on as they came', () => {
    const inputSchema = json('{"$ref":"#\\/a","x":[1.0,1e400],"x":null,"2":0,"10":0}')
    const { value } = encodeSuspension({ reason: 'approve "this"\n\u2028\ud800', inputSchema })
    expect(`${value}`).toBe(
      `{"__salvor_suspend":{"reason":"approve \\"this\\"\\n\u2028\\ud800","input_schema":${inputSchema}}}`,
    )
  })

  it.each([-1, 1.5, 4_294_967_296, Number.NaN])('refuses %d attempts', (attempts) => {
    const encode = () => encodeFailure({ kind: 'handler', message: 'm', attempts })
    expect(encode).toThrow(CoatcheckError)
    expect(encode).toThrow('attempts is')
    expect(encode).toThrowError(expect.objectContaining({ code: 'invalid_request' }))
  })

  it.each([
    '{"__salvor_error":"just a string"}',
    '{"__salvor_suspend":{"reason":1,"input_schema":{}}}',
    '{"__salvor_error":{"kind":"nope","message":"m","attempts":1}}',
    '{"__salvor_error":{"kind":"handler","message":"m","attempts":1},"x":1}',
    '{"a":{"__salvor_error":{"kind":"handler","message":"m","attempts":1}}}',
    '"{\\"__salvor_error\\":{}}"',
    '[{"__salvor_error":{}}]',
    '{"is_error":true,"message":"x"}',
    '{}',
  ])('is not %s', (source) => {
    expect(decodeSentinel(json(source))).toEqual({ kind: 'output' })
  })

  it('is known by its key however the key is escaped, and with a false is_error', () => {
    const source =
      '{"\\u005f_salvor_error":{"is_error":false,"kind":"hand\\u006cer","message":"\\ud83d","attempts":4294967295}}'
    expect(toJson(decoded(source))).toBe(
      '{"suspension":null,"failure":{"kind":"handler","message":"\\ud83d","attempts":4294967295}}',
    )
  })
})

describe('invalidInputMessage', () => {
  it('names the tool and what was wrong', () => {
    expect(invalidInputMessage('search', ['/q is missing', '/n must be a number'])).toBe(
      'the arguments of `search` do not fit the input schema: /q is missing; /n must be a number',
    )
  })

  it('does without a tool and without errors', () => {
    expect(invalidInputMessage(undefined, [])).toBe('the arguments do not fit the input schema')
  })
})
