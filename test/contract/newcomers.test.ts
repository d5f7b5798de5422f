// What a newcomer stumbles over is explained on the page where it stands first.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (name: string): string =>
  readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')

describe('the pages', () => {
  // Fault: it was taken for references such as `$r1`.
  it.each(['docs/tutorial/first-loop.md', 'docs/reference/previews.md'])(
    'tell the format named reference from references: %s',
    (page) => {
      expect(read(page)).toMatch(/nothing to do with (?:\[references\]\([a-z.]+\)|references) such/)
    },
  )

  // Fault: a document whose only member was `output` was unwrapped without a word.
  it.each(['README.md', 'docs/tutorial/first-loop.md'])(
    'tell when a put is unwrapped: %s',
    (page) => {
      expect(read(page)).toContain('`unwrapped: true`')
      expect(read(page)).toContain('`?envelope=none`')
    },
  )

  // Fault: 0015 was missing without a word.
  it('have a decision of every number', () => {
    const numbers = readdirSync(new URL('../../docs/adr/', import.meta.url))
      .flatMap((name) => /^(\d{4})-/.exec(name)?.[1] ?? [])
      .toSorted()
    expect(numbers.map(Number)).toEqual(numbers.map((_, i) => i + 1))
    const list = read('docs/adr/README.md')
    expect(numbers.filter((number) => !list.includes(`| [${number}](${number}-`))).toEqual([])
  })
})
