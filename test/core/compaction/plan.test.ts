import { describe, expect, it } from 'vitest'
import { joinBothEnds } from '../../../src/core/compaction/excerpt.ts'
import { planCompaction } from '../../../src/core/compaction/plan.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import { assistant, openAiRound, result, slice, use, user } from './transcripts.ts'

const plan = (messages: readonly unknown[], tokens = 20_000) =>
  planCompaction(slice(messages), tokens)
const exchange = (id: string, content: unknown) => ({
  role: 'user',
  content: [result(id, content)],
})
const call = (id: string, name: string, input: unknown) => ({
  role: 'assistant',
  content: [use(id, name, input)],
})
const END = [user('last')]

describe('a plan', () => {
  it('says what to summarize and what stays', () => {
    const { summary_request, ...rest } = plan([
      { role: 'system', content: 's' },
      user('one'),
      assistant('two'),
      user('three'),
    ])
    expect(rest).toEqual({
      compactable: true,
      summarize: { start: 1, end: 3 },
      preserved_user_turns: 1,
      tail_start: 3,
      split_turn: false,
      facts: { files_touched: [], notable_lines: [] },
    })
    expect(summary_request).toMatch(
      /addressed to you\.\n\nMessages 1 to 2 of the transcript:\n\n\[1\] user\none\n\n\[2\] assistant\ntwo$/,
    )
    expect(summary_request).not.toContain('three')
  })

  it('of a transcript with nothing to summarize has no request', () => {
    expect(plan([user('one')])).toEqual({
      compactable: false,
      summarize: null,
      preserved_user_turns: 0,
      tail_start: 0,
      split_turn: false,
      facts: { files_touched: [], notable_lines: [] },
      summary_request: null,
    })
  })

  it('keeps a result with its call, also without ids', () => {
    const asked = { role: 'assistant', content: [{ type: 'tool_use', name: 'x' }] }
    const answered = { role: 'user', content: [{ type: 'tool_result', content: 'y' }] }
    const all = [user('one'), assistant('two'), asked, answered]
    expect(plan(all)).toMatchObject({ tail_start: 2, split_turn: false })
    expect(plan([asked, answered])).toMatchObject({ tail_start: 2, split_turn: true })
  })

  it('waits for the results of the last call', () => {
    const waiting = [
      call('c', 'x', {}),
      exchange('b', 'of a call that is not there'),
      call('b', 'x', {}),
      exchange('c', 'late'),
    ]
    expect(plan(waiting).compactable).toBe(false)
    expect(plan([...waiting, exchange('b', 'answered')]).compactable).toBe(true)
  })

  it('preserves no turn once the budget is spent, an empty one neither', () => {
    const turns = [user(''), user('word'), assistant('x')]
    expect(plan(turns, 2).preserved_user_turns).toBe(1)
    expect(plan(turns, 3).preserved_user_turns).toBe(2)
  })

  it('names every member of the answer it asks for', () => {
    const { summary_request } = plan([user('one'), assistant('two'), ...END])
    for (const name of ['goal', 'progress', 'decisions', 'constraints', 'delegated_work']) {
      expect(summary_request).toContain(`"${name}"`)
    }
    for (const name of ['artifacts', 'open_questions', 'next_steps']) {
      expect(summary_request).toContain(`"${name}"`)
    }
  })
})

describe('facts', () => {
  it('are files in arguments and results, first seen first', () => {
    const { facts } = plan([
      call('a', 'edit', { file_path: 'Makefile', text: 'see docs/x.md.', paths: ['a b.txt'] }),
      exchange(
        'a',
        'src/a.ts(3,4): error\nat C:\\w\\b.cs:12 https://x.com/c.js //d/e.js 1/2 v1.2/3',
      ),
      call('b', 'run', { path: `${'x'.repeat(300)}`, file: 'two\nlines' }),
      exchange('b', [{ type: 'text', text: 'src/a.ts ./c/d.py, "/etc/e.conf" ~/f.toml' }]),
      ...END,
    ])
    expect(facts.files_touched).toEqual([
      'Makefile',
      'docs/x.md',
      'a b.txt',
      'src/a.ts',
      'C:\\w\\b.cs',
      './c/d.py',
      '/etc/e.conf',
      '~/f.toml',
    ])
  })

  it('are found in the arguments of OpenAI, JSON or not', () => {
    const [asked, ...rest] = openAiRound([['a', 'read']], 'nothing')
    const withArguments = (source: string) => ({
      ...asked,
      tool_calls: [{ id: 'a', function: { name: 'read', arguments: source } }],
    })
    const { facts } = plan([
      withArguments('{"file_path":"README"}'),
      ...rest,
      withArguments('{"file_path": "src/cut'),
      ...rest,
      withArguments('cat src/b.ts'),
      ...rest,
      ...END,
    ])
    expect(facts.files_touched).toEqual(['README', 'src/b.ts'])
  })

  it('are lines about checks and permissions, each once', () => {
    const lines = [' 3 failed, 2 passed', 'fine', 'bash: x: Permission denied', 'exit code 1']
    const { facts } = plan([
      call('a', 'test', {}),
      exchange('a', lines.join('\n')),
      call('b', 'test', {}),
      exchange('b', { stdout: lines.join('\n'), long: `1 passed ${'x'.repeat(500)}` }),
      ...END,
    ])
    expect(facts.notable_lines.map((line) => line.slice(0, 26))).toEqual([
      '3 failed, 2 passed',
      'bash: x: Permission denied',
      'exit code 1',
      '1 passed xxxxxxxxxxxxxxxxx',
    ])
    expect(facts.notable_lines.at(-1)?.length).toBe(200)
  })

  it('are the values of members that name files, whatever they look like', () => {
    const files = ['path', 'file', 'filename', 'filepath', 'file_name', 'paths', 'old_file']
    const more = ['notebookPath', 'sourceFiles', 'newFileName', 'target_filepaths']
    const others = ['path_id', 'fileSize', 'profile', 'pathology', 'filed', 'PathOf', 'text']
    const input = Object.fromEntries(
      [...files, ...more, ...others].map((name) => [name, `In ${name}`]),
    )
    const { facts } = plan([call('a', 'x', input), exchange('a', 'fine'), ...END])
    expect(facts.files_touched).toEqual([...files, ...more].map((name) => `In ${name}`))
  })

  it('are paths in texts: names with an extension in a directory', () => {
    const paths = ['src2/a1.ts', './x.c', '../y/z.d.ts', 'C:/w/b.cs', 'a-b/c+d@1/~e.md', 'é/ü.txt']
    const others = [
      'a.ts',
      'src/a',
      'src/a.',
      'src/a.1',
      '%x/a.ts',
      'x%/a.ts',
      'x/%a.ts',
      'x/a.ts%',
    ]
    const long = `${'d'.repeat(195)}/a.ts`
    const said = [...paths, ...others, long, `d${long}`].join(' ')
    const { facts } = plan([call('a', 'x', {}), exchange('a', said), ...END])
    expect(facts.files_touched).toEqual([...paths, long])
  })

  it('are lines of results that say how a check or a permission came out', () => {
    const lines = [
      '1 error',
      '2 errors',
      '3 passing',
      'test failed',
      'tests passed',
      'All tests ok',
    ]
    const more = ['build failed', 'Build succeeded', 'exit code 1', 'exit status: 2', 'EACCES: x']
    const others = [
      'errors',
      '1 erroneous',
      'a test',
      'build it',
      'exit code',
      'allowed',
      'EPERMIT',
    ]
    const said = [...lines, ...others, ...more].join('\n')
    const { facts } = plan([call('a', 'x', { text: '7 failed' }), exchange('a', said), ...END])
    expect(facts.notable_lines).toEqual([...lines, ...more])
  })

  it('are sought in the newest two million characters', () => {
    const filler = 'x'.repeat(65_536)
    const rounds = Array.from({ length: 40 }, (_, index) => [
      call(`c${index}`, 'x', {}),
      exchange(`c${index}`, [`d/${index}.ts`, filler]),
    ]).flat()
    const { files_touched: found } = plan([...rounds, ...END]).facts
    expect(found.at(-1)).toBe('d/39.ts')
    expect(found.length).toBe(Math.ceil(2_000_000 / 65_536))
  })

  it('are bounded, and of more the newest', () => {
    const rows = Array.from({ length: 500 }, (_, i) => `dir/f${i}.ts: ${i} errors`)
    const { facts } = plan([call('a', 'lint', {}), exchange('a', rows.join('\n')), ...END])
    expect(facts.files_touched.length).toBe(100)
    expect(facts.files_touched.at(-1)).toBe('dir/f499.ts')
    expect(facts.notable_lines.length).toBe(30)
  })

  it('are those of the messages that are summarized, not of the tail', () => {
    const { facts } = plan([
      call('a', 'read', { path: 'gone.ts' }),
      exchange('a', 'fine'),
      call('b', 'read', { path: 'kept.ts' }),
      exchange('b', '1 failed'),
    ])
    expect(facts).toEqual({ files_touched: ['gone.ts'], notable_lines: [] })
  })

  it('stand in the request', () => {
    const { summary_request } = plan([
      call('a', 'test', { path: 'a.ts' }),
      exchange('a', '1 failed'),
      ...END,
    ])
    expect(summary_request).toContain('Files that tools touched:\n- a.ts')
    expect(summary_request).toContain('Lines from tool results:\n- 1 failed')
  })

  it('do not stall on text made to slow a pattern down', () => {
    const hostile = [
      'a/'.repeat(300_000),
      '1'.repeat(600_000),
      'a.'.repeat(300_000),
      '/'.repeat(600_000),
    ]
    expect(plan([call('a', 'x', {}), exchange('a', hostile), ...END]).compactable).toBe(true)
  })

  it('are sought at any depth in one pass', () => {
    const deep = `${'{"path":['.repeat(500)}"deep/a.ts"${']}'.repeat(500)}`
    const source = `[{"role":"tool","tool_call_id":"a","content":${deep}},{"role":"user","content":"x"}]`
    const { facts } = planCompaction(parseJson(Buffer.from(source)), 0)
    expect(facts.files_touched).toEqual(['deep/a.ts'])
  })
})

describe('a summary request', () => {
  it('shows calls, results and earlier summaries, and no thinking', () => {
    const { summary_request } = plan([
      { role: 'user', content: [], compaction_summary: { goal: 'old', progress: 'p' } },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'secret' },
          use('a', 'read', { q: 1 }),
          { type: 'tool_use', id: 'b' },
        ],
      },
      {
        role: 'user',
        content: [
          result('a', [{ type: 'text', text: 'found' }, { type: 'image' }, { x: 1 }, 7]),
          result('b', { k: 'v' }),
          result('c', undefined),
          result('d', 'plain'),
          result('e', ['in a list']),
        ],
      },
      ...END,
    ])
    expect(summary_request).toContain('[0] earlier summary\n[Compaction summary]\nGoal: old')
    expect(summary_request).toContain(
      '[1] assistant\ncalls read with {"q":1}\ncalls a tool with nothing',
    )
    expect(summary_request).toContain(
      '[2] tool results\nresult of read: found\n[image]\n{"x":1}\n7\nresult of tool: {"k":"v"}\nresult of tool: nothing\nresult of tool: plain\nresult of tool: "in a list"',
    )
    expect(summary_request).not.toContain('secret')
  })

  it('is bounded, keeps the oldest and the newest, and says what it left out', () => {
    const messages = Array.from({ length: 400 }, (_, i) =>
      assistant(`turn ${i} ${'é😀'.repeat(500)}`),
    )
    const request = plan([...messages, ...END]).summary_request ?? ''
    const chars = [...request].length
    expect(chars).toBeLessThanOrEqual(80_000)
    expect(chars).toBeGreaterThan(75_000)
    expect(request).toContain('turn 0 ')
    expect(request).toContain('turn 399 ')
    expect(request).toMatch(/\[… messages \d+ to \d+ left out here …\]/)
    expect(request.isWellFormed()).toBe(true)
  })

  it('is bounded whatever the messages are', () => {
    const results = Array.from({ length: 300 }, (_, i) =>
      result(`r${i}`, `dir/${i}.ts ${'r'.repeat(3_000)}`),
    )
    const rows = Array.from(
      { length: 200 },
      (_, i) => `${'d/'.repeat(90)}${i}.ts 1 failed ${'x'.repeat(300)}`,
    )
    const request =
      plan([
        { role: 'x'.repeat(5_000), content: 'u'.repeat(100_000) },
        { role: 'user', content: results },
        { role: 'user', content: [result('z', rows.join('\n'))] },
        ...END,
      ]).summary_request ?? ''
    expect([...request].length).toBeLessThanOrEqual(80_000)
    expect(request).toContain('characters left out …]')
  })
})

describe('joinBothEnds', () => {
  it('names what it leaves out, and does not make it', () => {
    const made: number[] = []
    const part = (index: number) => {
      made.push(index)
      return `${index}`.repeat(100)
    }
    const range = { start: 2, end: 8 }
    const whole = [2, 3, 4, 5, 6, 7].map((index) => `${index}`.repeat(100)).join('\n\n')
    expect(joinBothEnds(range, part, 1_000)).toBe(whole)
    made.length = 0
    expect(joinBothEnds(range, part, 500)).toBe(
      `${'2'.repeat(100)}\n\n[… messages 3 to 6 left out here …]\n\n${'7'.repeat(100)}`,
    )
    expect(made).toEqual([2, 3, 7, 6])
  })
})
