import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { enterProtocol, isProtocolActive } from '../../src/core/turns.ts'
import { writeInTurns } from '../../src/users/transfer/import-turns.ts'

const LINES = Array.from({ length: 120 }, (_, index) => index)

/** Writes lines by doubling them; `sizes` receives the size of each batch. */
const writeTo =
  (sizes: number[], durationMs = 0) =>
  async (part: readonly number[]) => {
    sizes.push(part.length)
    await sleep(durationMs)
    return part.map((line) => line * 2)
  }

describe('the lines of an import', () => {
  test('are written together while the protocol is not in use', async () => {
    // It counts as in use for 50 ms after a request, which another file of this process may have sent.
    await expect.poll(isProtocolActive).toBe(false)
    const sizes: number[] = []
    expect(await writeInTurns({ tenant: 'a' }, LINES, writeTo(sizes))).toEqual(LINES.map((line) => line * 2))
    expect(sizes).toEqual([120])
  })

  test('are written by 50 while the protocol is in use, with pauses as long as the writes', async () => {
    const leave = enterProtocol()
    const sizes: number[] = []
    const started = performance.now()
    expect(await writeInTurns({ tenant: 'a' }, LINES, writeTo(sizes, 60))).toEqual(
      LINES.map((line) => line * 2),
    )
    expect(performance.now() - started).toBeGreaterThan(5 * 50)
    expect(sizes).toEqual([50, 50, 20])
    leave()
  })

  test('of one tenant are written one batch at a time, also after a failure', async () => {
    let running = 0
    const write = async (part: readonly number[]) => {
      running += 1
      expect(running).toBe(1)
      await sleep(5)
      running -= 1
      if (part[0] === 0) throw new Error('the first batch fails')
      return [...part]
    }
    const results = await Promise.allSettled(
      [0, 1, 2].map((line) => writeInTurns({ tenant: 'a' }, [line], write)),
    )
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  })
})
