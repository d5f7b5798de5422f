// The tools of the demo. They are real and work on the checkout that contains the demo. None needs
// the network.
import { spawnSync } from 'node:child_process'
import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arguments, Json, Outcome } from './types.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const OUTPUT_BYTES = 256 * 1024 * 1024
const FAILED = 'failed'

/** A tool of the demo. */
export interface Tool {
  readonly input_schema: Json
  /** Runs the tool. Its arguments are resolved and validated. */
  readonly run: (args: Arguments) => Outcome
}

const object = (properties: Readonly<Record<string, Json>>): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const text = (value: string | Buffer): Outcome => ({ kind: 'text', bytes: Buffer.from(value) })

/** The tools by name. */
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

/** Every file, one a line. Git's own files are left out, since they change meanwhile. */
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
    // The folder was deleted after its parent was read: other programs write here too.
    return []
  }
}

/**
 * Output of `npm ls`. It reports problems by its exit code and still prints the tree. Without npm
 * the lock file serves instead.
 */
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

/** Counts all levels of the tree of `npm ls`, or the entries of the flat list of the lock file. */
function countPackages(packages: Json | undefined): number {
  const entries = Object.values(packages ?? {}).filter(isEntry)
  return entries.reduce((sum, { dependencies }) => sum + 1 + countPackages(dependencies), 0)
}

const isEntry = (value: Json): value is { readonly dependencies?: Json } =>
  value !== null && typeof value === 'object'
