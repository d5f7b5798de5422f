/** `docs/reference/benchmarks-peers.md`: the tables, with what was done and what the words mean. */
import { SHOWN_CHARS } from './glue.ts'
import type { Results } from './results.ts'
import {
  elisionsTable,
  findingsTable,
  goalsTable,
  httpTable,
  linesTable,
  putsTable,
} from './tables.ts'

export function documentOf(results: Results): string {
  const { puts, http, lines, elisions, findings } = results
  const parts = [
    puts.length > 0 ? putsPart(results) : '',
    http.size > 0 ? httpPart(results) : '',
    lines.size > 0 ? linesPart(results) : '',
    elisions.size > 0 ? elisionsPart(results) : '',
    findings.size > 0 ? findingsPart(results) : '',
  ]
  return [introduction(results), ...parts].filter((part) => part !== '').join('\n')
}

const introduction = (results: Results): string => `# Coatcheck beside what one would use instead

Made by \`npm run bench:peers\`: ${results.rounds} rounds, ${results.machine}. Candidates take turns inside each round. A
figure is the median over the rounds; a ratio is taken inside each round, and its median shown, which is not quite the
quotient of the medians. Compare ratios and not milliseconds, which differ from machine to machine. A part that was not run is
not shown.

${results.versions.map((version) => `- ${version}`).join('\n')}

The libraries run in the caller's process, which costs them no trip over the network; they are frameworks for agents, and
moving results out of the transcript is one thing of many that they do. Redis and PostgreSQL are stores for everything; what
is around them here, a preview and a route, is the least that would serve. Coatcheck is asked over HTTP, and has committed to
disk when it answers. Each candidate is used as its documentation says, on the same machine, disk and Node.

## Goals

${goalsTable(results)}
`

const putsPart = (results: Results): string => `## Put a result, get its transcript text

One caller, one put after another; texts of log lines. Strands has its defaults; deepagents is told to move results out from
the size at which Strands does. Durable: the result survives a power cut once the answer is there. All give about as much into
the transcript: the run of coatcheck has a \`verbatim_limit_chars\` of ${SHOWN_CHARS}; its default is 30,000.

${putsTable(results)}
`

const httpPart = (results: Results): string => `## Durable puts of 30 KB from 16 callers at once

All over HTTP, and all Fastify: before Redis and PostgreSQL stands a server that takes the body, stores it, and answers with its
head and tail, ${SHOWN_CHARS} characters of it; so does coatcheck, by the \`verbatim_limit_chars\` of its run.

${httpTable(results)}
`

const linesPart = (
  results: Results,
): string => `## 100 lines out of the middle of ${results.textMegabytes} MB

Put before. Where the caller has to know where a line is, it is told, at no cost: these lines are all equally long.

${linesTable(results)}
`

const elisionsPart = (results: Results): string => `## Elide a transcript of 401 messages

453 KB; 197 of 200 tool results give way. From objects to objects: for coatcheck this includes making JSON, the call, and
parsing the answer. What of that is the trip, and would be for any service, is measured beside it.

${elisionsTable(results)}
`

const findingsPart = (results: Results): string => `## Ten nasty inputs

Each is something that tools really return, or models really write. All candidates have their default settings.

- **kept**: it comes back as it was, or what was asked holds.
- **lost**: a part of it, or all, cannot be had back, or it was refused.
- **wrong**: something else comes back, or text that is not well-formed is shown.
- **hung**: no answer within 10 seconds, to this call and to any other of that process.
- **not offered**: the candidate does not set out to do this. That is no fault.

${findingsTable(results)}
`
