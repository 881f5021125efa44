import { expect, vi } from 'vitest'
import { bulkUpdateUsers, getBulkJob } from '../../src/bulk/bulk-jobs.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { openApp, test } from '../support/fixtures.ts'
import { type ServerProcess, startServer } from '../support/process.ts'
import { importLines, userLines } from '../support/user-lines.ts'

const USERS = 400

test('a job goes on when a process is killed, and changes each user once', async ({ onTestFinished }) => {
  await openApp()
  const ctx = await ctxFor(await newTenant())
  await importLines(ctx, userLines(USERS))
  const { DATABASE_URL, ENCRYPTION_KEY } = process.env
  const start = (): Promise<ServerProcess> =>
    startServer({ DATABASE_URL, ENCRYPTION_KEY, BASE_URL: 'http://127.0.0.1' })
  const first = await start()
  onTestFinished(first.kill)
  const { id } = await bulkUpdateUsers(ctx, { action: 'delete', filter: {} })
  const countDeleted = async () =>
    (await logOf(ctx.tenant)).filter(({ type }) => type === 'user.deleted').length
  await vi.waitFor(async () => expect(await countDeleted()).toBeGreaterThan(5), {
    timeout: 10_000,
    interval: 20,
  })
  await first.kill()
  const deleted = await countDeleted()
  expect(deleted).toBeLessThan(USERS)
  const second = await start()
  onTestFinished(second.kill)
  await vi.waitFor(async () => expect((await getBulkJob(ctx, id)).finishedAt).not.toBeNull(), {
    timeout: 20_000,
    interval: 50,
  })
  expect(await getBulkJob(ctx, id)).toMatchObject({ status: 'completed', done: USERS, failed: 0 })
  expect(await countDeleted()).toBe(USERS)
}, 60_000)
