/**
 * Large texts: how fast they are taken in, what memory that takes, and whether reading a part of one depends on its size.
 */
import type { Case } from '../case.ts'
import { Client, CREATED, jsonOf } from '../client.ts'
import { type NextRequest, p50Ms } from '../crowd.ts'
import { Dice, logPieces, logText } from '../data.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../plan.ts'
import { JSON_TYPE, post, postHead, TEXT } from '../requests.ts'
import { interleave } from '../rounds.ts'
import type { Server } from '../server.ts'
import { inMegabytes, megabytes, megabytesPerSecond, ms, size } from '../show.ts'
import { median, medianRatio } from '../stats.ts'

const BLOCK_BYTES = 8_000_000
const SMALL_BYTES = 1_000_000
const LINES = 100
const MS_PER_SECOND = 1000
/** Room for the largest text, in case the default is less. */
const SETTINGS = { COATCHECK_MAX_RAW_BODY_BYTES: String(1024 ** 3) }

export function streamCases(plan: Plan): readonly Case[] {
  return [recallCase(plan), ingestCase(plan), memoryCase(plan)]
}

function recallCase({ recallBytes }: Plan): Case {
  const small = size(SMALL_BYTES)
  return {
    rows: [
      {
        id: 'recall-100-lines',
        what: `recall of 100 lines, time: from ${size(recallBytes)} vs from ${small}`,
        unit: 'x',
        bound: { kind: 'at_most', value: 1.2 },
      },
    ],
    async run(lab) {
      const server = await lab.coatcheck('recall', { settings: SETTINGS })
      const client = await Client.connect(server.port)
      const large = await lineRecalls(server, 'large', recallBytes)
      const few = await lineRecalls(server, 'small', SMALL_BYTES)
      const { callsPerRound } = lab.plan
      const seen = await interleave(lab.plan, {
        large: () => p50Ms(client, callsPerRound, large),
        small: () => p50Ms(client, callsPerRound, few),
      })
      client.close()
      await server.stop()
      lab.remove('recall')
      const value = medianRatio(seen.large, seen.small)
      return [{ ours: ms(median(seen.large)), baseline: ms(median(seen.small)), value }]
    },
  }
}

/** Puts a text, and answers recalls of 100 lines at places all over it. */
async function lineRecalls(server: Server, run: string, bytes: number): Promise<NextRequest> {
  const lines = Number((await putText(server, run, bytes))['total_lines'])
  const dice = new Dice(bytes)
  return () => {
    const start = 1 + dice.below(lines - LINES)
    const range = { start, end: start + LINES - 1 }
    return post(`/v1/runs/${run}/recall`, JSON_TYPE, JSON.stringify({ id: 'r1', range }))
  }
}

async function putText(
  server: Server,
  run: string,
  bytes: number,
): Promise<Readonly<Record<string, unknown>>> {
  const client = await Client.connect(server.port, CREATED)
  const reply = await client.upload(textRequest(`/v1/runs/${run}/results`, bytes))
  client.close()
  return jsonOf(reply)
}

function* textRequest(path: string, bytes: number): Generator<Buffer> {
  yield postHead(path, TEXT, bytes)
  yield* logPieces(bytes, logText(Math.min(bytes, BLOCK_BYTES)))
}

function ingestCase({ ingestBytes }: Plan): Case {
  return {
    rows: [
      {
        id: 'ingest-text',
        what: `text of ${size(ingestBytes)} over HTTP vs append + fsync behind Fastify, MB/s`,
        unit: 'x',
        bound: { kind: 'at_least', value: 0.45 },
      },
    ],
    async run(lab) {
      const server = await lab.coatcheck('ingest', { settings: SETTINGS })
      const ours = await Client.connect(server.port, CREATED)
      const other = await Client.connect((await lab.shared('fastify')).port)
      let runs = 0
      const rate = async (client: Client, path: string): Promise<number> => {
        const pieces = [...textRequest(path, ingestBytes)]
        const { totalMs } = await client.upload(pieces)
        return inMegabytes(ingestBytes) / (totalMs / MS_PER_SECOND)
      }
      const seen = await interleave(lab.plan, {
        put: () => rate(ours, `/v1/runs/ingest-${runs++}/results`),
        append: () => rate(other, '/append'),
      })
      ours.close()
      other.close()
      await server.stop()
      lab.remove('ingest')
      const shown = (rates: readonly number[]): string => megabytesPerSecond(median(rates))
      const value = medianRatio(seen.put, seen.append)
      return [{ ours: shown(seen.put), baseline: shown(seen.append), value }]
    },
  }
}

function memoryCase({ smallBodyBytes, largeBodyBytes }: Plan): Case {
  const [small, large] = [size(smallBodyBytes), size(largeBodyBytes)]
  return {
    rows: [
      {
        id: 'rss-body-difference',
        what: `peak RSS of a server that took a text of ${large}, minus one that took ${small}`,
        unit: 'MB',
        bound: { kind: 'at_most', value: 48 },
      },
      {
        id: 'rss-body-total',
        what: `peak RSS of a server that took a text of ${large}`,
        unit: 'MB',
        bound: { kind: 'at_most', value: 220 },
      },
    ],
    async run(lab) {
      // As on any start but the first, which compiles for the next ones.
      await (await lab.coatcheck('first')).stop()
      lab.remove('first')
      const least = await peakBytes(lab, smallBodyBytes)
      const most = await peakBytes(lab, largeBodyBytes)
      const shown = { ours: megabytes(most), baseline: megabytes(least) }
      return [
        { ...shown, value: inMegabytes(most - least) },
        { ...shown, value: inMegabytes(most) },
      ]
    },
  }
}

/** The peak of memory of a new server that takes one text. */
async function peakBytes(lab: Lab, bytes: number): Promise<number> {
  const server = await lab.coatcheck('memory', { settings: SETTINGS })
  await putText(server, 'memory', bytes)
  const peak = server.memoryBytes('VmHWM')
  await server.stop()
  lab.remove('memory')
  return peak
}
