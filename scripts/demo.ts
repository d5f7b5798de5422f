/**
 * A small agent loop against a real service. The model is a script; the tools and the service are
 * real. Prints the transcript as the model sees it, then reads every result back. Exits 1 when a
 * byte of a result is missing.
 */
import { startChild } from '../test/support/service.ts'
import { Coatcheck } from './demo/client.ts'
import { Loop } from './demo/loop.ts'
import { SUMMARY, script } from './demo/model.ts'
import { Printer } from './demo/print.ts'
import { type Recovered, recoverAll } from './demo/recover.ts'
import { TOOLS } from './demo/tools.ts'
import type { Outcome } from './demo/types.ts'
import { scriptOptions } from './options.ts'

const KEEP_TOOL_RESULTS = 3
/** Small, so that this short run reaches the threshold. */
const THRESHOLD_TOKENS = 500
const PRESERVE_USER_TOKENS = 100
const INTERRUPTED = 130

scriptOptions({
  command: 'npm run demo --',
  does: 'Runs a small agent loop against a real service.',
})

const print = new Printer((line) => console.log(line))
const approval: Outcome = { kind: 'json', bytes: Buffer.from('{"approved": false}') }

process.once('SIGINT', () => process.exit(INTERRUPTED))
const child = await startChild()
try {
  const differences = await demo(new Coatcheck(child.url, 'demo'))
  if (differences > 0) process.exitCode = 1
} finally {
  await child.stop()
}

/** Runs the demo. Returns the number of differences. */
async function demo(service: Coatcheck): Promise<number> {
  print.title('The run')
  await service.openRun(toolSchemas())
  const { name, description } = await service.recallTool()
  print.note(`besides its own tools the model gets "${name}": ${description}`)
  const loop = new Loop(service, print, [approval])
  for (const turn of script()) await loop.run(turn)
  const kept = await compact(service, loop)
  const recovered = await recoverAll(service, [...loop.taken, kept])
  await close(service, loop, recovered)
  return recovered.differences.length
}

/** Elides old results, asks whether that is enough, and replaces the rest by a summary. */
async function compact(service: Coatcheck, loop: Loop): Promise<Loop['taken'][number]> {
  print.title('Making room: old tool results give way')
  const {
    messages,
    elided,
    estimated_tokens: tokens,
  } = await service.elide(loop.messages, KEEP_TOOL_RESULTS)
  print.note(
    `${elided.length} elided; about ${tokens.before} tokens become ${tokens.after}. An old result now reads:`,
  )
  for (const message of messages.slice(2, 3)) print.message(message)

  print.title('Still too large? Then a summary takes the place of what is old')
  const {
    fires,
    estimated_tokens: now,
    threshold_tokens: threshold,
  } = await service.trigger(messages, THRESHOLD_TOKENS)
  print.note(
    `about ${now} tokens, the threshold is ${threshold}: the trigger ${fires ? 'fires' : 'does not fire'}`,
  )
  const {
    summarize,
    summary_request: request,
    handle: id,
  } = await service.plan(messages, PRESERVE_USER_TOKENS)
  if (!fires || summarize === null || request === null || id === null)
    throw new Error('nothing to compact')
  print.note(
    `messages ${summarize.start} to ${summarize.end - 1} go; but first the transcript is kept as ${id}`,
  )
  print.message({ role: 'user', content: request })
  const applied = await service.apply(messages, PRESERVE_USER_TOKENS, SUMMARY)
  const fewer = messages.length - applied.messages.length
  print.title(`What the model sees from now on, ${fewer} messages fewer`)
  for (const message of applied.messages) print.message(message)
  const outcome: Outcome = { kind: 'json', bytes: Buffer.from(JSON.stringify(messages)) }
  return { handle: id, evidenceId: id, outcome }
}

async function close(service: Coatcheck, loop: Loop, recovered: Recovered): Promise<void> {
  const { produced_chars: produced, shown_chars: shown, results } = await service.readRun()
  print.title('The account')
  console.log(`produced: ${produced} characters in ${results} results`)
  console.log(
    `shown:    ${shown} characters in their place, and ${loop.recalledChars} that the model recalled`,
  )
  for (const difference of recovered.differences) console.log(`DIFFERS:  ${difference}`)
  if (recovered.differences.length > 0) return
  console.log(
    `recovered: every byte of ${recovered.results} results (${recovered.bytes} bytes; their text in ${recovered.pages} recalls)`,
  )
}

function toolSchemas(): Parameters<Coatcheck['openRun']>[0] {
  return Object.fromEntries(
    Object.entries(TOOLS).map(([name, { input_schema }]) => [name, { input_schema }]),
  )
}
