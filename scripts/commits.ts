/**
 * `npm run commits:check`: refuses commits that are no Conventional Commits, among those since the newest release tag, or
 * among the last 20 where there is no tag. A shallow clone is judged as far as its history goes.
 */
import { spawnSync } from 'node:child_process'
import { scriptOptions } from './options.ts'

const COMMITS_WITHOUT_TAG = 20

scriptOptions({
  command: 'npm run commits:check --',
  does: 'Refuses commits that are no Conventional Commits.',
})

const from = newestTag() ?? commitBefore(COMMITS_WITHOUT_TAG)
const range = from === undefined ? [] : ['--from', from]
const lint = spawnSync('commitlint', [...range, '--to', 'HEAD'], { stdio: 'inherit' })
if (lint.error !== undefined) throw lint.error
process.exitCode = lint.status ?? 1

function newestTag(): string | undefined {
  return git('describe', '--tags', '--abbrev=0', '--match', 'v*')
}

/** The commit before the last `count`, or undefined where the history is shorter. */
function commitBefore(count: number): string | undefined {
  return git('rev-parse', '--verify', '--quiet', `HEAD~${count}`)
}

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
