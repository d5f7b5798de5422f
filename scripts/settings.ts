/**
 * Writes docs/reference/settings.md from the schema of the settings. With `--check` it writes
 * nothing, and exits 1 when the committed page differs.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { ConfigSchema } from '../src/config.ts'
import { scriptOptions } from './options.ts'

const PAGE = new URL('../docs/reference/settings.md', import.meta.url)

/** Larger units for defaults, the largest first. */
const UNITS = [
  { part: '_BYTES', size: 1024 ** 3, name: 'GiB' },
  { part: '_BYTES', size: 1024 ** 2, name: 'MiB' },
  { part: '_BYTES', size: 1024, name: 'KiB' },
  { part: '_TTL_SECONDS', size: 86_400, name: 'days' },
  { part: '_RETENTION_SECONDS', size: 86_400, name: 'days' },
] as const

interface Setting {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly default?: string | number
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
}

const { flags } = scriptOptions({
  command: 'npm run settings --',
  does: 'Writes docs/reference/settings.md from the schema of the settings.',
  flags: { check: 'write nothing; exit 1 when the page differs' },
})

const text = pageOf(ConfigSchema.properties)
if (!flags.check) await writeFile(PAGE, text)
else if ((await readFile(PAGE, 'utf8').catch(() => '')) !== text) {
  console.error('docs/reference/settings.md is not what src/config.ts says: npm run settings')
  process.exitCode = 1
}

function pageOf(settings: Readonly<Record<string, Setting>>): string {
  const rows = Object.entries(settings).map(
    ([name, setting]) =>
      `| \`${name}\` | ${setting.description ?? ''} | ${valuesOf(setting)} | ${defaultOf(name, setting)} |`,
  )
  return `# Settings

Made by \`npm run settings\` from the schema in \`src/config.ts\`.

Settings are environment variables, read once at the start. An empty one counts as absent; one that is out of bounds stops the start,
with a line that says what is wrong; a name that begins with \`COATCHECK_\` and is none of these is logged as a warning.

| Setting | What it is | Values | Default |
|---|---|---|---|
${rows.join('\n')}
`
}

function valuesOf({ type, enum: values, minimum, maximum }: Setting): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ')
  if (type !== 'integer') return 'text'
  if (maximum === Number.MAX_SAFE_INTEGER) return `from ${grouped(minimum)}`
  return `${grouped(minimum)} to ${grouped(maximum)}`
}

function defaultOf(name: string, { default: value }: Setting): string {
  if (value === undefined) return 'none'
  const unit = UNITS.find(({ part, size }) => name.includes(part) && Number(value) % size === 0)
  return unit === undefined
    ? `\`${value}\``
    : `\`${value}\` (${grouped(Number(value) / unit.size)} ${unit.name})`
}

/** A number with its digits in groups of three. */
function grouped(value = 0): string {
  return new Intl.NumberFormat('en-US').format(value)
}
