import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  parse,
  subscribe,
} from 'graphql'
import { test as base, describe, expect } from 'vitest'
import { UNBOUND } from '../../../src/access/dpop/dpop-binding.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import type { GraphQLContext } from '../../../src/graphql/context.ts'
import { SubscriptionStream } from '../../../src/graphql/live/subscription-stream.ts'
import { createContext } from '../../../src/graphql/request-context.ts'
import { decodePosition, encodePosition } from '../../../src/model/event-position.ts'

const DOCUMENT = parse('subscription { tick }')
const toPosition = (tick: number): string => encodePosition({ era: 0, xid: BigInt(tick), seq: 0n })
const toTick = (position: string | null): number => Number(decodePosition(position ?? '').xid)

/** A log of numbers, whose readers wait for the next one. */
function createLog() {
  let head = 0
  const waiting = new Set<() => void>()
  const waitForNext = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  return {
    head: () => head,
    append: () => {
      head += 1
      for (const wake of [...waiting]) wake()
    },
    async *follow(context: GraphQLContext): AsyncGenerator<{ tick: number }> {
      let at = toTick(context.stream.position)
      const { signal } = context.stream.stop
      while (!signal.aborted) {
        if (at < head) {
          at += 1
          context.stream.position = toPosition(at)
          yield { tick: at }
          continue
        }
        await waitForNext(signal)
      }
    },
  }
}

const test = base
  .extend('log', () => createLog())
  .extend('ticks', ({ log }) => {
    let executions = 0
    const schema = new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { tick: { type: GraphQLInt } } }),
      subscription: new GraphQLObjectType({
        name: 'Subscription',
        fields: {
          tick: {
            type: GraphQLInt,
            subscribe: async (_root, _args, context: GraphQLContext) => {
              await setImmediate()
              context.stream.position = context.stream.lastEventId ?? toPosition(log.head())
              return log.follow(context)
            },
            resolve: ({ tick }: { tick: number }) => {
              executions += 1
              return tick
            },
          },
        },
      }),
    })
    /** Opens a stream. What it receives is in `received`. A slow reader accepts nothing while `isSlow`. */
    const open = async (after: number | null = null) => {
      const ctx = createPlatformCtx('ticks')
      const context = createContext({
        ctx,
        token: null,
        binding: UNBOUND,
        rejection: null,
      })
      context.stream.lastEventId = after === null ? null : toPosition(after)
      const stream = {
        received: [] as number[],
        isSlow: false,
        delivered: 0,
        start: 0,
        close: () => {},
      }
      const receive = ({ data }: ExecutionResult) => stream.received.push(Number(data?.tick))
      const deliver = (text: string) => {
        if (stream.isSlow) return false
        stream.delivered += 1
        receive(JSON.parse(text))
        return true
      }
      context.stream.transport = { deliver, handleEnd: () => {} }
      const args: ExecutionArgs = { schema, document: DOCUMENT, contextValue: context }
      const results = (await subscribe(args)) as AsyncGenerator<ExecutionResult>
      stream.start = toTick(context.stream.position)
      const shared = new SubscriptionStream({ args, context, subscribe }, results)
      stream.close = () => void shared.return()
      void (async () => {
        for await (const result of shared) {
          receive(result)
          while (stream.isSlow) await sleep(1)
        }
      })()
      return stream
    }
    return { open, countExecutions: () => executions }
  })

/** The numbers after `start`. */
const listTicks = (start: number, head: number): number[] =>
  Array.from({ length: head - start }, (_, index) => start + index + 1)

describe('streams with the same operation and caller', () => {
  test('share one execution of each event', async ({ log, ticks: { open, countExecutions } }) => {
    const streams = [await open(), await open(), await open()]
    await sleep(5)
    log.append() // the first stream has executed alone until now
    await sleep(5)
    const before = countExecutions()
    for (let count = 0; count < 10; count++) log.append()
    await expect.poll(() => streams.map(({ received }) => received.length)).toEqual([11, 11, 11])
    expect(countExecutions() - before).toBe(10)
    for (const { received, close } of streams) {
      expect(received).toEqual(listTicks(0, 11))
      close()
    }
  })

  test('receive each event after their start once, whenever they join, fall behind and leave', async ({
    log,
    ticks: { open },
  }) => {
    const streams: Awaited<ReturnType<typeof open>>[] = []
    for (let round = 0; round < 300; round++) {
      const chance = Math.random()
      if (chance < 0.2) streams.push(await open())
      else if (chance < 0.3) streams.push(await open(Math.floor(Math.random() * (log.head() + 1))))
      else if (chance < 0.5) log.append()
      else if (chance < 0.8) {
        const stream = streams[Math.floor(Math.random() * streams.length)]
        if (stream) stream.isSlow = !stream.isSlow
      } else if (chance < 0.85 && streams.length > 3) streams.splice(0, 1)[0]?.close()
      if (round % 7 === 0) await sleep(1)
      log.append()
    }
    for (const stream of streams) stream.isSlow = false
    expect(streams.length).toBeGreaterThan(10)
    for (const { received, start } of streams)
      await expect.poll(() => received, { timeout: 5000 }).toEqual(listTicks(start, log.head()))
    expect(streams.filter(({ delivered }) => delivered > 0).length).toBeGreaterThan(streams.length / 2)
    for (const { close } of streams) close()
  })

  test('execute alone again after all others have left', async ({
    log,
    ticks: { open, countExecutions },
  }) => {
    const [one, two] = [await open(), await open()]
    await sleep(5)
    log.append()
    await expect.poll(() => [one.received.length, two.received.length]).toEqual([1, 1])
    one.close()
    two.close()
    await sleep(5)
    const before = countExecutions()
    log.append()
    await sleep(5)
    expect(countExecutions()).toBe(before)
    const three = await open()
    log.append()
    await expect.poll(() => three.received).toEqual([3])
    expect(three.delivered).toBe(0)
    three.close()
  })
})
