import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/ledger.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

it('the image starts the service as npm start does', () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } }
  const command = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1] as string
  expect(`exec ${(JSON.parse(command) as string[]).join(' ')}`).toBe(scripts.start)
})

// Fault: the shell of npm stayed between them, and a signal to npm ended all but the service.
it('a signal to npm start ends the service', async () => {
  const folder = temporaryFolder()
  const env = { ...process.env, COATCHECK_PORT: '0', COATCHECK_LEDGER: join(folder.path, 'l.db') }
  const npm = spawn('npm', ['start'], { cwd: CHECKOUT, env })
  try {
    let output = ''
    npm.stderr.resume()
    const url = await new Promise<string>((resolve, reject) => {
      npm.on('exit', (status) => reject(new Error(`it ended with ${status}: ${output}`)))
      npm.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const [, found] = /Swagger UI: (http:\S+)\/docs/.exec(output) ?? []
        if (found !== undefined) resolve(found)
      })
    })
    // its output ends with the last process that holds it
    const closed = once(npm, 'close')
    npm.kill('SIGTERM')
    await closed
    await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed')
  } finally {
    folder.remove()
  }
})

it('an older Node is told what is needed, and where it is', () => {
  const older = `data:text/javascript,${encodeURIComponent(
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })',
  )}`
  const module = new URL('../../src/compile-cache.js', import.meta.url).href
  const args = ['--import', older, '--import', module, '--eval', '']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain('coatcheck needs Node 24.6 or later, and this is 20.20.2.')
})

it('what keeps compiled code is silent where it cannot be written', () => {
  const module = new URL('../../src/compile-cache.js', import.meta.url).href
  const args = ['--import', module, '--eval', 'console.log("started")']
  const env = { ...process.env, NODE_COMPILE_CACHE: '/dev/null/folder' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'started\n', stderr: '' })
})
