import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('the image starts the service as npm start does', () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } }
  const command = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1] as string
  expect((JSON.parse(command) as string[]).join(' ')).toBe(scripts.start)
})

it('what keeps compiled code is silent where it cannot be written', () => {
  const module = new URL('../../src/compile-cache.js', import.meta.url).href
  const args = ['--import', module, '--eval', 'console.log("started")']
  const env = { ...process.env, NODE_COMPILE_CACHE: '/dev/null/folder' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'started\n', stderr: '' })
})
