/**
 * A crash in any thread ends the process by its signal, at once, and frees the ledger: a supervisor sees it and starts again.
 * The faults are real instructions of an addon that is compiled here, or V8's own end.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kept, statusOf } from '../support/kept.ts'
import { type Exit, type ServiceChild, startChild } from '../support/service.ts'
import type { Harm } from './preload/crash.ts'

const SOURCE = fileURLToPath(new URL('faults/crash.c', import.meta.url))
const PRELOAD = new URL('preload/crash.ts', import.meta.url)
/** A crash writes no core: the machine of the tests has no use for it. */
const WITHOUT_CORE = ['prlimit', '--core=0']
const hasCompiler = spawnSync('gcc', ['--version']).status === 0
if (!hasCompiler)
  console.warn('crash.test.ts: there is no gcc, so no real fault can be made; skipped')

const THREADS = ['main', 'ledger-writer', 'validation'] as const
/** SIGSEGV and SIGBUS in every kind of thread, the others in one. */
const FAULTS = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGABRT'] as const
/** How long a process that crashes may take to end; a supervisor would wait no longer. */
const ENDS_MS = 20_000
const POLL_MS = 100
const KILOBYTE = 1024
const MEBIBYTE = 1_048_576
/** Enough for the service to go on, and not for a heap to be filled. */
const SPARE_BYTES = 64 * MEBIBYTE

/** Compiled code, kept from one start to the next: these tests start many. */
const CODE = resolve('node_modules/.cache/coatcheck')
const folder = mkdtempSync(join(tmpdir(), 'coatcheck-crash-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The addon that makes a fault; undefined where it cannot be compiled. */
function compiled(fault: (typeof FAULTS)[number]): string {
  const name = fault.slice('SIG'.length).toLowerCase()
  const addon = join(folder, `${name}.node`)
  const crash = name === 'abrt' ? 'abort' : name
  execFileSync('gcc', ['-shared', '-fPIC', '-w', `-DCRASH=${crash}`, '-o', addon, SOURCE])
  return addon
}

/** The ledger with one result in it, and each kind of thread running. */
async function startAll(ledger: string): Promise<{ child: ServiceChild; kept: Kept }> {
  const env = { COATCHECK_LEDGER: ledger, NODE_COMPILE_CACHE: CODE }
  const child = await startChild({ env, preload: PRELOAD, wrapper: WITHOUT_CORE })
  const kept = new Kept(child.url, 'run')
  await kept.put('before')
  // a slow machine may take longer for the first schema than it may take
  while ((await validated(child)) !== 200) await sleep(POLL_MS)
  return { child, kept }
}

async function validated({ url }: ServiceChild): Promise<number> {
  const reply = await fetch(`${url}/v1/runs/run/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"arguments":{},"input_schema":{"type":"object"}}',
  })
  await reply.arrayBuffer()
  return reply.status
}

/** How the process ends; 'hangs' when it does not. */
async function ended(child: ServiceChild): Promise<Exit | 'hangs'> {
  const exit = await Promise.race([child.ended(), sleep(ENDS_MS, 'hangs' as const, { ref: false })])
  await child.kill()
  return exit
}

/** Another start has the ledger at once, and all that was acknowledged. */
async function expectFree(ledger: string, kept: Kept): Promise<void> {
  const next = await startChild({ env: { COATCHECK_LEDGER: ledger, NODE_COMPILE_CACHE: CODE } })
  kept.url = next.url
  try {
    await kept.expectAll()
    expect((await kept.put(`after ${next.pid}`)).status).toBe(201)
  } finally {
    await next.stop()
  }
}

const harmed = async (child: ServiceChild, harm: Harm): Promise<void> => {
  expect(await child.tell(harm)).toBe('found')
}

describe.skipIf(!hasCompiler)('a crash in a thread of the service', () => {
  const addons = new Map<string, string>()
  beforeAll(() => {
    for (const fault of FAULTS) addons.set(fault, compiled(fault))
  })

  // Fault: SIGSEGV, SIGBUS and others had handlers, so that the instruction was tried again for ever and the lock was held.
  it.each(
    FAULTS.flatMap((fault, index) =>
      (index < 2 ? THREADS : ['main']).map((thread) => [fault, thread] as const),
    ),
  )('ends the process by its signal and frees the ledger: %s in %s', async (fault, thread) => {
    const ledger = join(folder, `${fault}-${thread}.db`)
    const { child, kept } = await startAll(ledger)
    await harmed(child, { thread, how: addons.get(fault) as string })
    expect(await ended(child)).toEqual({ code: null, signal: fault })
    await expectFree(ledger, kept)
  })
})

describe('a crash that V8 raises', () => {
  // Fault: "Fatal process out of memory" ends in an illegal instruction, whose signal had a handler: it hung.
  it.each([
    ['start threads', 'main'],
    ...THREADS.map((thread) => ['fill memory', thread] as const),
  ] as const)('ends the process and frees the ledger: %s in %s', async (how, thread) => {
    const ledger = join(folder, `${how.replace(' ', '-')}-${thread}.db`)
    const { child, kept } = await startAll(ledger)
    limitMemory(child.pid)
    await harmed(child, { thread, how })
    const exit = await ended(child)
    expect(exit).not.toBe('hangs')
    // Node ends a thread whose heap is full by an error of its own, if it still can: that ends the process with status 1.
    expect([
      { code: null, signal: expect.stringMatching(/^SIG(?:ABRT|ILL|TRAP|SEGV)$/) },
      ...(thread === 'ledger-writer' ? [{ code: 1, signal: null }] : []),
    ]).toContainEqual(exit)
    await expectFree(ledger, kept)
  })
})

/** The process can map no more than a little beyond what it has mapped. */
function limitMemory(pid: number): void {
  const status = execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' })
  const bytes = Number(/^VmSize:\s+(\d+) kB$/m.exec(status)?.[1]) * KILOBYTE + SPARE_BYTES
  execFileSync('prlimit', ['--pid', String(pid), `--as=${bytes}`])
}

describe('an error that nothing catches', () => {
  it.each(
    (['main', 'ledger-writer'] as const).flatMap((thread) =>
      (['throw', 'reject'] as const).map((how) => [how, thread] as const),
    ),
  )('is logged and ends the process with status 1: %s in %s', async (how, thread) => {
    const ledger = join(folder, `${how}-${thread}.db`)
    const { child, kept } = await startAll(ledger)
    await harmed(child, { thread, how })
    expect(await ended(child)).toEqual({ code: 1, signal: null })
    const lines = child.output.split('\n').filter((line) => line.includes('"level":60'))
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: 'stopped by an error' }),
    ])
    expect(lines[0]).toMatch(/(?:thrown|rejected) in a test/)
    await expectFree(ledger, kept)
  })

  // Validation works on what strangers send: what fails there must not end what others use.
  it.each(['throw', 'reject'] as const)(
    'in a thread that validates costs that thread alone: %s',
    async (how) => {
      const { child } = await startAll(join(folder, `${how}-validation.db`))
      await harmed(child, { thread: 'validation', how })
      while (!child.output.includes('a thread that validates has ended')) await sleep(POLL_MS)
      expect(await statusOf(`${child.url}/readyz`)).toBe(200)
      // a call of another thread that is told to fail as well
      while ((await validated(child)) !== 200) await sleep(POLL_MS)
      expect(await child.stop()).toEqual({ code: 0, signal: null })
    },
  )
})
