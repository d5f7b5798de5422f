// Puts as they go over HTTP, with what each is in the ledger's model, in the text view, and in the arguments of a call.
import fc from 'fast-check'
import { putBinary, putJson, putText, type TestPut } from '../support/ledger.ts'

/** Past this a body is taken in pieces. */
const STREAMED_LINES = 50_000
const CHUNKED_LINES = 4_000

export interface ModelPut {
  /** Its names, outcome, kind and bytes; the rest of it is not looked at. */
  readonly put: TestPut
  readonly type: string
  readonly body: Buffer
  /** Null for a binary. */
  readonly view: string | null
  /** What a reference to it becomes, or why it does not. */
  readonly argument: { readonly value: unknown } | { readonly reason: string }
  /** What fast-check shows of it. */
  readonly shown: string
}

interface Names {
  readonly toolUseId: string
  readonly idempotencyKey: string | null
}

const JSON_TYPE = 'application/json'
const TOOL = 'search'

export function rawText(text: string, names: Names): ModelPut {
  return {
    put: putText(text, names),
    type: 'text/plain',
    body: Buffer.from(text),
    view: text,
    argument: { value: text },
    shown: `text of ${text.length}, ${text.slice(0, 10)}`,
  }
}

function binary(bytes: Buffer, names: Names): ModelPut {
  return {
    put: putBinary(bytes, names),
    type: 'application/octet-stream',
    body: bytes,
    view: null,
    argument: { reason: 'binary' },
    shown: `binary ${bytes.toString('hex')}`,
  }
}

/** A string is a text, whose bytes are its token. */
function output(value: unknown, names: Names): ModelPut {
  const json = JSON.stringify(value)
  const isText = typeof value === 'string'
  return {
    put: putJson(json, { ...names, kind: isText ? 'text' : 'json' }),
    ...envelope({ output: value }),
    view: isText ? value : JSON.stringify(value, undefined, 2),
    argument: { value },
    shown: `output of ${json.length}, ${json.slice(0, 20)}`,
  }
}

function failure(message: string, names: Names): ModelPut {
  const sentinel = { is_error: true, kind: 'handler', message, attempts: 1 }
  return {
    put: putJson(JSON.stringify({ __salvor_error: sentinel }), {
      ...names,
      outcome: 'failure',
      failureKey: message,
    }),
    ...envelope({ tool_name: TOOL, failure: { message } }),
    view: message,
    argument: { reason: 'failure' },
    shown: `failure ${message}`,
  }
}

function suspension(reason: string, names: Names): ModelPut {
  const sentinel = { reason, input_schema: {} }
  return {
    put: putJson(JSON.stringify({ __salvor_suspend: sentinel }), {
      ...names,
      outcome: 'suspension',
    }),
    ...envelope({ suspension: sentinel }),
    view: reason,
    argument: { reason: 'suspension' },
    shown: `suspension ${reason}`,
  }
}

const envelope = (value: object): Pick<ModelPut, 'type' | 'body'> => ({
  type: JSON_TYPE,
  body: Buffer.from(JSON.stringify(value)),
})

export const IDS = ['', 'x', 'x', 'x', 'y', 'x~2', 'x~suspension', 'r1', '$r2', 'é/+='] as const

const names: fc.Arbitrary<Names> = fc.record({
  toolUseId: fc.constantFrom(...IDS),
  idempotencyKey: fc.option(fc.constantFrom('k', 'l'), { freq: 9 }),
})
const lines = (count: number): string => 'a line of some length\n'.repeat(count)
const rows = (count: number) => ({ rows: Array.from({ length: count }, (_, n) => ({ n })) })

/** Few different ones, so that many are retries, copies of an id, and failures that repeat. */
export const modelPut: fc.Arbitrary<ModelPut> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom('', 'a\r\nb', '1', 'é'), names).map((of) => rawText(...of)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom<unknown>(null, 1, '1', [], { k: 'v', 'a.b': { c: [1, 'é'] } }), names)
      .map((of) => output(...of)),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('f', 'g'), names).map((of) => failure(...of)) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('s', 't'), names).map((of) => suspension(...of)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('00', 'ff00'), names)
      .map(([hex, of]) => binary(Buffer.from(hex, 'hex'), of)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(CHUNKED_LINES, CHUNKED_LINES, CHUNKED_LINES, STREAMED_LINES), names)
      .map(([count, of]) => rawText(lines(count), of)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(rows(CHUNKED_LINES)), names).map((of) => output(...of)),
  },
)
