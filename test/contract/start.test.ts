import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('the image starts the service as npm start does', () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } }
  const command = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1] as string
  expect((JSON.parse(command) as string[]).join(' ')).toBe(scripts.start)
})
