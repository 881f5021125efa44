import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endLease, signInAtProcess, startProcess, usesPostgres } from '../../support/logout-processes.ts'
import {
  type Heard,
  type LogoutReceiver,
  startLogoutReceiver,
  validateLogoutToken,
} from '../../support/logout-receiver.ts'
import type { ServerProcess } from '../../support/process.ts'

const SHARED = ['a', 'b', 'c', 'd'].flatMap((name) => [`/shared-${name}1`, `/shared-${name}2`])
const servers: ServerProcess[] = []
const start = async () => {
  const server = await startProcess()
  servers.push(server)
  return server
}
let receiver: LogoutReceiver
let first: ServerProcess
let second: ServerProcess
beforeAll(async () => {
  receiver = await startLogoutReceiver()
  // Only one process can open the embedded database.
  const [one, two] = await Promise.all([start(), usesPostgres && start()])
  first = one
  if (two) second = two
}, 120_000)
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill().catch(() => {})))
  await receiver.close()
})

describe('a queued logout token', { timeout: 120_000 }, () => {
  test.runIf(usesPostgres)('is delivered by any of the processes', async () => {
    const people = await Promise.all(
      SHARED.map((path, index) =>
        signInAtProcess(index % 2 ? second : first, path.slice(1), receiver.urlOf(path)),
      ),
    )
    await Promise.all(people.map(({ end }) => end()))
    await Promise.all(SHARED.map((path) => receiver.waitFor(path)))
  })

  test('is delivered by another process after the one that ended the session was killed', async () => {
    receiver.answers.set('/killed', () => {})
    const { clientId, sid, end } = await signInAtProcess(first, 'killed', receiver.urlOf('/killed'))
    await end()
    await receiver.waitFor('/killed')
    await first.kill()
    receiver.answers.delete('/killed')
    if (!usesPostgres) second = await start()
    await endLease('killed')
    const [, last] = await receiver.waitFor('/killed', 2)
    const { claims } = await validateLogoutToken(second.origin, 'killed', clientId, last as Heard)
    expect(claims.sid).toBe(sid)
  })

  test('without an answer does not delay SIGTERM and is delivered by the next process', async () => {
    receiver.answers.set('/stopped', () => {})
    const { clientId, sid, end } = await signInAtProcess(second, 'stopped', receiver.urlOf('/stopped'))
    await end()
    await receiver.waitFor('/stopped')
    expect(await second.stop()).toBe(0)
    receiver.answers.delete('/stopped')
    const third = await start()
    const [, last] = await receiver.waitFor('/stopped', 2)
    const { claims } = await validateLogoutToken(third.origin, 'stopped', clientId, last as Heard)
    expect(claims.sid).toBe(sid)
    expect(await third.stop()).toBe(0)
  })

  test.runIf(usesPostgres)('is delivered once by several processes', () => {
    expect(SHARED.map((path) => receiver.heardAt(path).length)).toEqual(SHARED.map(() => 1))
  })
})
