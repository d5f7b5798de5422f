// The tools of the demo: real ones, over the checkout that the demo lies in. Nothing here needs the network.
import { spawnSync } from 'node:child_process'
import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arguments, Json, Outcome } from './types.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const OUTPUT_BYTES = 256 * 1024 * 1024
const FAILED = 'failed'

export interface Tool {
  readonly input_schema: Json
  /** Gets its arguments resolved and validated. */
  readonly run: (args: Arguments) => Outcome
}

const object = (properties: Readonly<Record<string, Json>>): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const text = (value: string | Buffer): Outcome => ({ kind: 'text', bytes: Buffer.from(value) })

export const TOOLS: Readonly<Record<string, Tool>> = {
  list_files: {
    input_schema: object({ path: { type: 'string' } }),
    run: ({ path }) => text(listFiles(String(path))),
  },
  read_file: {
    input_schema: object({ path: { type: 'string' } }),
    run: ({ path }) => text(readFileSync(join(CHECKOUT, String(path)))),
  },
  npm_ls: { input_schema: object({}), run: () => ({ kind: 'json', bytes: installedPackages() }) },
  git_log: { input_schema: object({}), run: () => text(history()) },
  count_packages: {
    input_schema: object({
      packages: { type: 'object', minProperties: 1 },
      note: { type: 'string' },
    }),
    run: ({ packages = null, note = '' }) =>
      text(`${countPackages(packages)} packages (${String(note)})`),
  },
  node: {
    input_schema: object({ file: { type: 'string' } }),
    run: ({ file }) => runNode(String(file)),
  },
  ask_person: {
    input_schema: object({ question: { type: 'string' } }),
    run: ({ question }) => ({
      kind: 'suspension',
      reason: String(question),
      input_schema: object({ approved: { type: 'boolean' } }),
    }),
  },
}

/** Every file, one a line; git's own, which change while one looks, are left out. */
const listFiles = (path: string): string => `${filesUnder(path).join('\n')}\n`

function filesUnder(path: string): readonly string[] {
  const entries = entriesOf(join(CHECKOUT, path)).filter(({ name }) => name !== '.git')
  return entries.flatMap((entry) => {
    const inside = path === '.' ? entry.name : `${path}/${entry.name}`
    return entry.isDirectory() ? filesUnder(inside) : [inside]
  })
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // gone since its parent was read: other programs write here too
    return []
  }
}

/** `npm ls` complains by its exit code and still prints the tree; without npm, the lock file says as much. */
function installedPackages(): Buffer {
  const { stdout } = spawnSync('npm', ['ls', '--all', '--json', '--long', '--no-update-notifier'], {
    cwd: CHECKOUT,
    maxBuffer: OUTPUT_BYTES,
    shell: process.platform === 'win32',
  })
  return isObject(stdout) ? stdout : readFileSync(join(CHECKOUT, 'package-lock.json'))
}

function isObject(json: Buffer | null): json is Buffer {
  try {
    const value: unknown = JSON.parse(json?.toString() ?? '')
    return value !== null && typeof value === 'object' && 'dependencies' in value
  } catch {
    return false
  }
}

function history(): string {
  const log = command('git', ['--no-pager', 'log', '--stat'])
  return log === FAILED ? command(process.execPath, ['--help']) : log
}

function command(file: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync(file, args, {
    cwd: CHECKOUT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES,
  })
  return status === 0 && stdout !== '' ? stdout : FAILED
}

function runNode(file: string): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: CHECKOUT,
    encoding: 'utf8',
  })
  if (status === 0) return text(stdout)
  const messages = [`node ${file} ended with code ${status}`, stderr.trim()]
  return { kind: 'failure', failure: { kind: 'handler', messages, attempts: 1 } }
}

/** All levels of a tree by `npm ls`; of the lock file's flat list, its length. */
function countPackages(packages: Json | undefined): number {
  const entries = Object.values(packages ?? {}).filter(isEntry)
  return entries.reduce((sum, { dependencies }) => sum + 1 + countPackages(dependencies), 0)
}

const isEntry = (value: Json): value is { readonly dependencies?: Json } =>
  value !== null && typeof value === 'object'
