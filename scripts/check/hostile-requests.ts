/**
 * Harmful requests, one of each kind. Each must be refused, limited or stored like any other. Every
 * body has about the given number of bytes, except small bodies that become large.
 */
import { gzipSync } from 'node:zlib'
import type { Sent } from './client.ts'

/** A harmful request. `what` is its name. */
export interface HostileRequest {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly sent: Sent
}

const RUN = '/v1/runs/hostile'
const JSON_TYPE = 'application/json'
const RAW_JSON = 'application/vnd.hostile+json'
const BOMB_BYTES = 20_000_000
const REFERENCES = 900

/** Makes one request of each kind, with bodies of about `bytes`. */
export function hostileRequests(bytes: number): readonly HostileRequest[] {
  const json = (what: string, path: string, body: string | Buffer): HostileRequest => ({
    what,
    method: 'POST',
    path: `${RUN}${path}`,
    sent: { type: JSON_TYPE, body },
  })
  const put = (
    what: string,
    type: string,
    body: string | Buffer,
    headers = {},
  ): HostileRequest => ({
    what,
    method: 'POST',
    path: `${RUN}/results`,
    sent: { type, body, headers },
  })
  const fill = (unit: string): string => unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit)))
  const resolve = (args: unknown, schema?: unknown): string =>
    JSON.stringify({ arguments: args, ...(schema === undefined ? {} : { input_schema: schema }) })
  return [
    put('deep JSON', RAW_JSON, fill('[')),
    put('JSON that breaks off', RAW_JSON, `{"a":"${fill('x')}`),
    put('a name again and again', RAW_JSON, `{${fill('"a":1,')}"a":2}`),
    put('many names', RAW_JSON, JSON.stringify(Object.fromEntries(numbered(bytes / 10)))),
    put('JSON that is no UTF-8', RAW_JSON, Buffer.from(`"${fill('x')}\xff"`, 'latin1')),
    put('numbers past a double', RAW_JSON, `[${fill('1e999999,')}1]`),
    put('lone surrogates', RAW_JSON, `"${fill('\\ud800')}"`),
    put('marks that turn text around', 'text/plain', fill('\u202e')),
    put('a text of line ends', 'text/plain', fill('\r\n')),
    put('a bomb', 'text/plain', gzipSync(Buffer.alloc(BOMB_BYTES)), { 'content-encoding': 'gzip' }),
    put('no gzip', 'text/plain', fill('x'), { 'content-encoding': 'gzip' }),
    json('a pattern that runs away', '/resolve', resolve('a'.repeat(40), { pattern: '^(a+)+$b' })),
    json('a schema within itself', '/resolve', resolve({}, { $ref: '#' })),
    json(
      'a schema of many parts',
      '/resolve',
      resolve(1, { anyOf: numbered(bytes / 40).map(([name]) => ({ const: name })) }),
    ),
    json('references to all', '/resolve', resolve(Array.from({ length: REFERENCES }, () => '$r1'))),
    json(
      'paths to nowhere',
      '/resolve',
      resolve(numbered(bytes / 20).map(([name]) => `$r1.${name}`)),
    ),
    json('an id of many bytes', '/recall', JSON.stringify({ id: fill('../') })),
    { what: 'a path upwards', method: 'GET', path: '/v1/runs/..%2f..%2fetc/results', sent: {} },
    {
      what: 'a range past all',
      method: 'GET',
      path: `${RUN}/results/r1/value`,
      sent: { headers: { range: 'bytes=9999999999-' } },
    },
  ]
}

const numbered = (count: number): (readonly [string, number])[] =>
  Array.from({ length: count }, (_, n) => [`name${n}`, n] as const)
