// Every relative link in the project's Markdown leads to a file that is there, and every anchor to a heading. Links to other
// hosts are not followed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { anchorsIn, type Link, linksIn } from './markdown.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NOT_OURS = ['node_modules', '.git', 'artifacts', 'coverage', 'data']
const SCHEME = /^[a-z][a-z0-9+.-]*:/i

describe('the links in the documentation', () => {
  const files = markdownFiles(ROOT)

  it('are looked for in the documentation, the decisions and the files at the top', () => {
    const names = files.map((file) => relative(ROOT, file))
    expect(names).toEqual(
      expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/README.md', 'docs/adr/README.md']),
    )
  })

  it.each(files.map((file) => relative(ROOT, file)))('of %s lead somewhere', (name) => {
    const file = join(ROOT, name)
    expect(linksIn(readFileSync(file, 'utf8')).flatMap((link) => brokenLink(file, link))).toEqual(
      [],
    )
  })
})

describe('reading links from Markdown', () => {
  it('finds inline links, images and definitions with their lines', () => {
    const markdown = '[a](b.md) and ![c](<d e.png>)\n\n[f]: g.md#h\n[i](j_(k).md "l")'
    expect(linksIn(markdown)).toEqual([
      { target: 'b.md', line: 1 },
      { target: 'd e.png', line: 1 },
      { target: 'g.md#h', line: 3 },
      { target: 'j_(k).md', line: 4 },
    ])
  })

  it('leaves code alone, fenced or in a line', () => {
    const fenced = '```md\n[a](gone.md)\n````\n~~~\n```\n[b](gone.md)\n~~~\n'
    expect(linksIn(`${fenced}\`[c](gone.md)\` and \`\`[d](gone.md) \` \`\` [e](here.md)`)).toEqual([
      { target: 'here.md', line: 8 },
    ])
  })

  it('names anchors as GitHub does', () => {
    const markdown =
      '# The `put` call: A/B\n## Again\n## Again\n```\n# not a heading\n```\n### [x](y.md) é_z #'
    expect([...anchorsIn(markdown)]).toEqual(['the-put-call-ab', 'again', 'again-1', 'x-é_z'])
  })
})

describe('a broken link', () => {
  const file = join(ROOT, 'docs', 'README.md')
  const broken = (target: string): readonly string[] => brokenLink(file, { target, line: 1 })

  it('is one to a file that is not there, or to a heading that is not in it', () => {
    expect(broken('gone.md')).toEqual(['line 1: gone.md is not there'])
    expect(broken('adr/README.md#gone')).toEqual(['line 1: adr/README.md has no #gone'])
    expect(broken('#gone')).toEqual(['line 1: docs/README.md has no #gone'])
  })

  it('is one that leaves the project', () => {
    expect(broken('../../x.md')).toEqual(['line 1: ../../x.md leaves the project'])
    expect(broken('/docs')).toEqual(['line 1: /docs leaves the project'])
  })

  it('is none to another host, to a folder, or to a heading that is there', () => {
    const sound = [
      'https://example.com/x',
      'mailto:a@example.com',
      'adr',
      'adr/README.md#decisions',
    ]
    expect(sound.flatMap(broken)).toEqual([])
  })
})

/** What is wrong with a link of `file`; empty when it leads somewhere. */
function brokenLink(file: string, { target, line }: Link): readonly string[] {
  if (SCHEME.test(target)) return []
  const [path = '', anchor] = target.split('#', 2)
  const found = path === '' ? file : resolve(dirname(file), decodeURIComponent(path))
  if (path.startsWith('/') || relative(ROOT, found).startsWith('..')) {
    return [`line ${line}: ${target} leaves the project`]
  }
  if (!existsSync(found)) return [`line ${line}: ${path} is not there`]
  if (anchor === undefined || !found.endsWith('.md')) return []
  if (anchorsIn(readFileSync(found, 'utf8')).has(decodeURIComponent(anchor))) return []
  return [`line ${line}: ${path === '' ? relative(ROOT, file) : path} has no #${anchor}`]
}

function markdownFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.includes(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return markdownFiles(path)
      return entry.name.endsWith('.md') ? [path] : []
    })
}
