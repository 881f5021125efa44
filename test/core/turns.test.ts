import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import {
  enterProtocol,
  isProtocolActive,
  mapInTurns,
  spreadOverTurns,
  takeTurn,
} from '../../src/core/turns.ts'

const nextRound = () => new Promise((resolve) => setImmediate(resolve))
const listOf = (tenant: string) => ({ tenant, workload: 'list' }) as const
/** Waits for as many turns as there are names, and notes the order in which they are given. */
const takeTurns = (tenant: string, names: string[], given: string[]) =>
  names.map((name) => takeTurn(listOf(tenant))?.then(() => void given.push(name)))
/** Keeps the event loop busy. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

// Tests of other files in this process use the protocol.
beforeEach(() => vi.waitUntil(() => !isProtocolActive()))

describe('the turns of management calls', () => {
  test('are given to one tenant after the other', async () => {
    const given: string[] = []
    await Promise.all([...takeTurns('a', ['a1', 'a2', 'a3'], given), ...takeTurns('b', ['b1'], given)])
    expect(given).toEqual(['a1', 'b1', 'a2', 'a3'])
  })

  test('share a round of the event loop when they are short', async () => {
    const given: string[] = []
    const turns = takeTurns('a', ['a1', 'a2', 'a3'], given)
    await nextRound()
    await nextRound()
    expect(given).toEqual(['a1', 'a2', 'a3'])
    await Promise.all(turns)
  })

  test('end the round of the event loop after a millisecond', async () => {
    const given: string[] = []
    const turns = ['a1', 'a2', 'a3'].map((name) =>
      takeTurn(listOf('a'))?.then(async () => {
        await undefined
        block(2)
        given.push(name)
      }),
    )
    await nextRound()
    await nextRound()
    expect(given.length).toBeLessThanOrEqual(2)
    await Promise.all(turns)
    expect(given).toEqual(['a1', 'a2', 'a3'])
  })

  test('are given one in a round of the event loop while a protocol request is answered', async () => {
    const leave = enterProtocol()
    const given: string[] = []
    const turns = takeTurns('a', ['a1', 'a2', 'a3'], given)
    await nextRound()
    await nextRound()
    expect(given.length).toBeLessThanOrEqual(2)
    await Promise.all(turns)
    leave()
  })

  test('are not waited for by work that is not a management call', () => {
    expect(takeTurn({ tenant: 'a' })).toBeUndefined()
  })

  test('are followed by a pause as long as the turn while a protocol request is answered', async () => {
    const leave = enterProtocol()
    await takeTurn(listOf('a'))
    block(40)
    const ended = performance.now()
    await takeTurn(listOf('a'))
    expect(performance.now() - ended).toBeGreaterThan(30)
    leave()
  })

  test('are followed by a pause for 50 ms after the last protocol request', async () => {
    enterProtocol()()
    expect(isProtocolActive()).toBe(true)
    await sleep(51)
    expect(isProtocolActive()).toBe(false)
  })

  test('follow each other at once when the protocol is not in use', async () => {
    await takeTurn(listOf('a'))
    block(200)
    const ended = performance.now()
    await takeTurn(listOf('a'))
    expect(performance.now() - ended).toBeLessThan(150)
  })
})

describe('rows', () => {
  const rows = Array.from({ length: 150 }, (_, index) => index)

  test('are converted in several rounds of the event loop, in their order', async () => {
    let rounds = 0
    let isDone = false
    const count = () => {
      rounds += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const double = (row: number) => {
      block(0.1)
      return row * 2
    }
    expect(await mapInTurns(listOf('a'), rows, double)).toEqual(rows.map((row) => row * 2))
    isDone = true
    expect(rounds).toBeGreaterThanOrEqual(2)
  })

  test('that are being converted come before other work of the tenant', async () => {
    const given: string[] = []
    const spread = Promise.all(spreadOverTurns(listOf('a'), rows)).then(() => given.push('converted'))
    const turns = takeTurns('a', ['a1'], given)
    const converted = mapInTurns(listOf('a'), rows, (row) => row).then(() => given.push('converted'))
    await Promise.all([spread, ...turns, converted])
    expect(given).toEqual(['converted', 'converted', 'a1'])
  })

  test('are half as many in a turn while a protocol request is answered', () => {
    const countInFirstTurn = () =>
      spreadOverTurns(listOf('a'), rows).filter((row) => !(row instanceof Promise)).length
    const idle = countInFirstTurn()
    const leave = enterProtocol()
    expect(countInFirstTurn()).toBe(idle / 2)
    leave()
  })

  test('are promises beyond the first turn, which resolve to the rows', async () => {
    const spread = spreadOverTurns(listOf('a'), rows)
    expect(spread.filter((row) => row instanceof Promise).length).toBeGreaterThanOrEqual(50)
    expect(await Promise.all(spread)).toEqual(rows)
    expect(spreadOverTurns({ tenant: 'a' }, rows)).toEqual(rows)
  })
})
