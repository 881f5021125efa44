import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, vi } from 'vitest'
import { enterProtocol, isProtocolActive, takeTurn } from '../../src/core/turns.ts'
import type { WorkloadKind } from '../../src/core/workload.ts'
import { sqlFor } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { recordStatements } from '../support/statements.ts'

const SLOW = 'SELECT pg_sleep(0.3)::text AS "slow", $1::text AS "tenantId"'
const QUICK = 'SELECT 1 AS "quick", $1::text AS "tenantId"'

const test = base
  /** Keeps the protocol in use until the test ends. */
  .extend('enterProtocol', async ({ app: _ }, { onCleanup }) => () => {
    onCleanup(enterProtocol())
  })
  /** The number of statements that are sent within 100 ms of four that are asked for at once. */
  .extend('countSent', ({ tenant }) => async (workload: WorkloadKind, text: string) => {
    const send = () =>
      Promise.all(Array.from({ length: 4 }, () => sqlFor({ tenant, workload })(text, [tenant])))
    // The pool opens its connections.
    if (!isProtocolActive()) await send()
    let done: Promise<unknown> = Promise.resolve()
    const sent = await recordStatements(async () => {
      done = send()
      await sleep(100)
    })
    await done
    return sent.filter((statement) => statement === text).length
  })

describe('statements of one tenant', () => {
  test.for([
    ['change', 2, 4],
    ['list', 1, 2],
  ] as const)(
    'of the workload %s run %i at a time while the protocol is in use, and %i otherwise',
    async ([workload, whileInUse, otherwise], { countSent, enterProtocol }) => {
      await vi.waitUntil(() => !isProtocolActive())
      expect(await countSent(workload, SLOW)).toBe(otherwise)
      enterProtocol()
      expect(await countSent(workload, SLOW)).toBe(whileInUse)
    },
  )

  test('hold their connection until what follows the result has a turn', async ({
    tenant,
    countSent,
    enterProtocol,
  }) => {
    enterProtocol()
    await takeTurn({ tenant, workload: 'list' })
    // A long turn, which a pause of its own length follows.
    const end = performance.now() + 300
    while (performance.now() < end);
    expect(await countSent('list', QUICK)).toBe(1)
  })
})
