/** JSON bodies of the shapes that tools return, and of the shapes that an adversary sends. */

export interface Shape {
  readonly name: string
  readonly body: Buffer
}

/** The middle one, of an odd number. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const rows = (): unknown =>
  times(10_000, (i) => ({
    id: i,
    name: `customer ${i * 7919}`,
    email: `user${i}@example.com`,
    active: i % 3 === 0,
    score: i / 7,
    tags: ['alpha', 'beta'],
    created: '2026-01-02T03:04:05Z',
  }))

const user = (i: number): unknown => ({
  login: `octo-${i}`,
  id: 583_231 + i,
  node_id: 'MDQ6VXNlcjU4MzIzMQ==',
  avatar_url: `https://avatars.example.com/u/${i}?v=4`,
  url: `https://api.example.com/users/octo-${i}`,
  followers_url: `https://api.example.com/users/octo-${i}/followers`,
  following_url: `https://api.example.com/users/octo-${i}/following{/other_user}`,
  repos_url: `https://api.example.com/users/octo-${i}/repos`,
  type: 'User',
  site_admin: false,
})

/** Issues as a code host's API lists them. */
const issues = (count: number): unknown =>
  times(count, (i) => ({
    url: `https://api.example.com/repos/octo/hello/issues/${i}`,
    comments_url: `https://api.example.com/repos/octo/hello/issues/${i}/comments`,
    html_url: `https://example.com/octo/hello/issues/${i}`,
    id: 1_000_000_000 + i,
    number: i,
    title: `Found a bug in module ${i}`,
    user: user(i),
    labels: times(2, (n) => ({
      id: n,
      name: 'bug',
      color: 'f29513',
      default: true,
      description: null,
    })),
    state: 'open',
    assignee: i % 2 === 0 ? user(i + 1) : null,
    comments: i % 13,
    created_at: '2011-04-22T13:33:48Z',
    body: `I'm having a problem with this: "${'it fails when I run it again – '.repeat(8)}"\r\nSteps:\n1. run\n2. see é`,
    reactions: { total_count: i, '+1': 0, '-1': 0, laugh: 0 },
  }))

const text = (bytes: number): string =>
  '2026-01-02 ERROR "worker" failed at C:\\srv\\app\n\tat run (index.js:10:3) – retrying\n'
    .repeat(Math.ceil(bytes / 84))
    .slice(0, bytes)

const wide = (members: number): string => `{${times(members, (i) => `"key${i}":${i}`).join(',')}}`

const JSON_SHAPES: Readonly<Record<string, () => string>> = {
  rows10k: () => JSON.stringify(rows()),
  'api-min': () => JSON.stringify(issues(400)),
  'api-indented': () => JSON.stringify(issues(330), null, 2),
  'string-5mb': () => JSON.stringify(text(5_000_000)),
  'string-field': () => JSON.stringify({ log: text(5_000_000), code: 1 }),
  'string-plain': () => JSON.stringify('plain words without any escape '.repeat(160_000)),
  numbers: () => JSON.stringify(times(300_000, (i) => (i * 7919) / 3)),
  integers: () => JSON.stringify(times(600_000, (i) => i * 31)),
  matrix: () => JSON.stringify(times(2_000, (i) => times(100, (j) => i ^ j))),
  nested: () => JSON.stringify(times(200, () => JSON.parse('['.repeat(500) + ']'.repeat(500)))),
  'nested-objects': () =>
    times(100, () => `${'{"k":'.repeat(500)}1${'}'.repeat(500)}`)
      .join(',')
      .replace(/.*/s, '[$&]'),
  'keys-100k': () => wide(100_000),
  'keys-1m': () => wide(1_000_000),
  'dup-1m': () => `{${'"a":1,'.repeat(1_000_000)}"b":2}`,
  'escaped-keys': () => `{${times(200_000, (i) => `"\\u006b${i}":1`).join(',')}}`,
  'nul-escapes': () => `"${'\\u0000'.repeat(1_000_000)}"`,
  'empty-objects': () => `[${'{},'.repeat(2_000_000)}[]]`,
  'one-key-objects': () => `[${'{"a":1},'.repeat(1_000_000)}0]`,
  commas: () => `[${'0,'.repeat(3_000_000)}0]`,
  spaces: () => `[${' '.repeat(5_000_000)}1${'\n'.repeat(5_000_000)}]`,
}

export function shapes(only: string): readonly Shape[] {
  return Object.entries(JSON_SHAPES)
    .filter(([name]) => name.includes(only))
    .map(([name, make]) => ({ name, body: Buffer.from(make()) }))
}
