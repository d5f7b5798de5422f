// The model of the demo is a script. Like a real model it sees only the transcript. It reads the
// ids, ranges and references that it uses from there.
import type { Arguments, Json } from './types.ts'

/** A tool call of the model. */
export interface Call {
  readonly name: string
  readonly input: Arguments
}

/** Next message of the model, from the newest tool result that it sees. */
export interface Step {
  readonly says: string
  readonly calls?: (seen: string) => Call
}

/** A message of the user and the model's steps after it. */
export interface Turn {
  readonly user: string
  readonly steps: readonly Step[]
}

const call =
  (name: string, input: Arguments = {}): (() => Call) =>
  () => ({ name, input })

/** The call that the service's note offers, unchanged. */
function recallByNote(seen: string): Call {
  const args = /^\[.*?recall (\{.*\}) (?:returns|continues).*\]$/m.exec(seen)?.[1]
  if (args === undefined) throw new Error('the model finds no note with a recall')
  return { name: 'recall', input: JSON.parse(args) as Arguments }
}

/** The handle in a preview, and one of the members that it shows. */
function previewOf(seen: string): { readonly handle: string; readonly member: string } {
  const handle = /^(r\d+) = json\(/.exec(seen)?.[1]
  if (handle === undefined) throw new Error('the model finds no preview')
  return { handle, member: /\bdependencies: /.test(seen) ? 'dependencies' : 'packages' }
}

/** Makes the script. It remembers the preview, as a model does while it is in its transcript. */
export function script(): readonly Turn[] {
  let preview = { handle: '', member: '' }
  const count = (reference: string): Call => ({
    name: 'count_packages',
    input: { packages: reference, note: 'all levels; costs $0.00' },
  })
  return [
    {
      user: 'Look over this checkout: its files, its packages, its history.',
      steps: [
        { says: 'First the files.', calls: call('list_files', { path: '.' }) },
        {
          says: 'The lock file is the largest; I read it.',
          calls: call('read_file', { path: 'package-lock.json' }),
        },
        { says: 'The middle is omitted. I follow the note.', calls: recallByNote },
        { says: 'That page ends with a note too; one more.', calls: recallByNote },
        { says: 'Now what is installed.', calls: call('npm_ls') },
        {
          says: 'I count them, and mistake the name for the packages.',
          calls: (seen) => {
            preview = previewOf(seen)
            return count(`$${preview.handle}.name`)
          },
        },
        {
          says: 'A string. The packages, then.',
          calls: () => count(`$${preview.handle}.${preview.member}`),
        },
        { says: 'Last, the history.', calls: call('git_log') },
        { says: 'I have seen the files, the packages and the history.' },
      ],
    },
    {
      user: 'Run src/migrate.ts, then ask me before you go on.',
      steps: [
        ...['I run it.', 'Again.', 'Once more.'].map((says) => ({
          says,
          calls: call('node', { file: 'src/migrate.ts' }),
        })),
        {
          says: 'It fails every time.',
          calls: call('ask_person', { question: 'Shall I look for another migration?' }),
        },
        { says: 'You have answered, so I stop here.' },
      ],
    },
    { user: 'Thank you. What comes next?', steps: [{ says: 'Writing the missing migration.' }] },
  ]
}

/** Answer of the model to the request for a summary. */
export const SUMMARY: Json = {
  goal: 'Look over the checkout and run its migration',
  progress:
    'Listed the files, read the lock file, counted the packages; src/migrate.ts does not exist',
  next_steps: ['Write the missing migration'],
}
