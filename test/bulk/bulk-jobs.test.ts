import { describe, expect, vi } from 'vitest'
import {
  bulkUpdateUsers,
  cancelBulkJob,
  getBulkJob,
  listBulkJobFailures,
  revokeClientAccess,
} from '../../src/bulk/bulk-jobs.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import type { LogEvent } from '../../src/events/log.ts'
import { startBulkJobs } from '../../src/jobs/bulk-jobs.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, getUser, lockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { toTypes } from '../support/events.ts'
import { makeSpa, signInAs } from '../support/people.ts'
import { answerIn, authorizePath, exchange, makeClient, makeUser, refreshWith } from '../support/protocol.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { importLines, userLines } from '../support/user-lines.ts'
import { startApiSession } from '../support/user-sessions.ts'

const countOf = (log: LogEvent[], type: string): number => log.filter((event) => event.type === type).length

const waitFor = <Found>(find: () => Promise<Found>): Promise<Found> =>
  vi.waitFor(find, { timeout: 20_000, interval: 20 })

const test = base
  /** Starts workers as one process does; they stop at the end of the test. */
  .extend('startWorker', async ({ tenant: _ }, { onCleanup }) => {
    const stops: (() => Promise<void>)[] = []
    onCleanup(async () => {
      await Promise.all(stops.map((stop) => stop()))
    })
    return () => {
      const stop = startBulkJobs()
      stops.push(stop)
      return stop
    }
  })
  /** Starts a job and a worker; returns the job once it has ended, with its failures. */
  .extend('run', ({ ctx, startWorker }) => async (input: object, caller: Ctx = ctx) => {
    const { id } = await bulkUpdateUsers(caller, input)
    startWorker()
    return waitFor(async () => {
      const job = await getBulkJob(ctx, id)
      expect(job.finishedAt).not.toBeNull()
      return { ...job, failures: (await listBulkJobFailures(ctx, id, {})).rows }
    })
  })
  /** Makes users; returns their ids in order. */
  .extend('makeUsers', ({ ctx }) => async (count: number) => {
    const results = await importLines(ctx, userLines(count))
    return results.slice(0, -1).map(({ userId }): string => userId)
  })

/** A user with a role. */
const makeMember = async ({ tenant }: Ctx, role: string) =>
  setUserRoles(createPlatformCtx(tenant), (await makeUser(tenant, `${role}@example.com`)).id, {
    roles: [role],
  })

/** The context of a user with a role. */
async function asUser(ctx: Ctx, role: string): Promise<Ctx & { userId: string }> {
  const { tenant } = ctx
  const user = await makeMember(ctx, role)
  const client = await makeClient(tenant, { scopes: [...ctx.scopes] })
  const ids = { tenant, userId: user.id, clientId: client.id, sessionId: null, grantId: null }
  return { ...ctx, actor: { kind: 'user', ...ids }, userId: user.id }
}

describe('a bulk job', () => {
  test('changes each user as the single operation does, and says of the others why not', async ({
    ctx,
    makeUsers,
    run,
    events,
  }) => {
    const [first = '', second = ''] = await makeUsers(2)
    const support = await asUser(ctx, 'support')
    const supportCtx = {
      ...support,
      scopes: (await ctxFor(ctx.tenant, ['users:read', 'users:write'])).scopes,
    }
    const admin = await makeMember(ctx, 'admin')
    const unknown = 'user_01m7xeb1sbendby702xerkqv3p'
    await startApiSession(ctx, first)
    const userIds = [first, second, support.userId, admin.id, unknown, first]
    expect(await run({ action: 'lock', userIds }, supportCtx)).toMatchObject({
      status: 'completed',
      total: 5,
      done: 2,
      failed: 3,
      failures: [
        { userId: unknown, code: 'NOT_FOUND' },
        { userId: support.userId, message: 'A bulk job does not change the account of its caller.' },
        { userId: admin.id, code: 'FORBIDDEN' },
      ].sort((a, b) => (a.userId < b.userId ? -1 : 1)),
    })
    const log = await events()
    const request = log.find(({ type }) => type === 'bulk_job.started')
    expect(
      log
        .filter(({ userId }) => userId === first)
        .map(({ type, actorUserId, requestId }) => [type, actorUserId, requestId]),
    ).toContainEqual(['user.locked', support.userId, request?.requestId])
    expect(countOf(log, 'session.ended')).toBe(1)
    expect(log.at(-1)).toMatchObject({
      type: 'bulk_job.finished',
      detail: { status: 'completed', done: 2, failed: 3 },
    })
  })

  test.for([
    { action: 'add-roles', roles: ['support'], after: ['auditor', 'support'] },
    { action: 'remove-roles', roles: ['auditor'], after: [] },
    { action: 'set-roles', roles: ['support'], after: ['support'] },
    { action: 'set-roles', roles: [], after: [] },
  ])('gives and takes roles: $action $roles', async ({ after, ...input }, { ctx, makeUsers, run }) => {
    const [id = ''] = await makeUsers(1)
    await setUserRoles(createPlatformCtx(ctx.tenant), id, { roles: ['auditor'] })
    expect(await run({ ...input, userIds: [id] })).toMatchObject({ done: 1, failed: 0 })
    expect((await getUser(ctx, id)).roles).toEqual(after)
  })

  test('changes all users of a filter once, in several processes, even if the change ends the match', async ({
    makeUsers,
    startWorker,
    run,
    events,
  }) => {
    await makeUsers(260)
    startWorker()
    startWorker()
    const job = await run({ action: 'lock', filter: { locked: false } })
    expect(job).toMatchObject({ status: 'completed', total: 260, done: 260, failed: 0 })
    const log = await events()
    expect(countOf(log, 'user.locked')).toBe(260)
    expect(countOf(log, 'bulk_job.finished')).toBe(1)
  })

  test('revokes the access of a client, and nothing else of its users', async ({
    app,
    ctx,
    tenant,
    startWorker,
    events,
  }) => {
    const [client, other] = [await makeSpa(tenant), await makeSpa(tenant)]
    const scope = 'openid session offline_access'
    const people = await Promise.all(
      ['ada', 'bea'].map(async (name) => {
        const { email } = await makeUser(tenant, `${name}@${tenant}.example`)
        const signedIn = await signInAs(app, tenant, client, email ?? '', { scope })
        await signInAs(app, tenant, other, email ?? '', { scope, browser: signedIn.browser })
        return signedIn
      }),
    )
    const silently = authorizePath(tenant, client, { scope, prompt: 'none' })
    const authorized = await people[0]?.browser.fetch(silently)
    const { code = '' } = answerIn(authorized?.headers.get('location') ?? null)
    const before = await events()
    const { id, total } = await revokeClientAccess(ctx, client.id)
    // Before the job has come to its user.
    expect((await exchange(app, tenant, client, code)).body.error).toBe('invalid_grant')
    startWorker()
    await waitFor(async () => expect(await getBulkJob(ctx, id)).toMatchObject({ status: 'completed' }))
    expect(total).toBe(2)
    const after = (await events()).slice(before.length)
    expect(toTypes(after).sort()).toEqual([
      'bulk_job.finished',
      'bulk_job.progressed',
      'bulk_job.started',
      'grant.revoked',
      'grant.revoked',
      'session.ended',
      'session.ended',
      'token.refused',
    ])
    expect(
      after.every(({ type, subjectIds }) => /^bulk_job.[^s]/.test(type) || subjectIds.includes(client.id)),
    ).toBe(true)
    for (const { answer } of people)
      expect((await refreshWith(app, tenant, client, answer.refresh_token ?? '')).body.error).toBe(
        'invalid_grant',
      )
    expect(await revokeClientAccess(ctx, client.id)).toMatchObject({ total: 0 })
  })

  test('waits neither for many other jobs nor for those that an error interrupts', async ({ ctx, run }) => {
    const unknown = 'user_01m7xeb1sbendby702xerkqv3p'
    const start = async () => {
      const tenant = await newTenant()
      const caller = await ctxFor(tenant, ['users:read', 'users:write'])
      return { tenant, start: () => bulkUpdateUsers(caller, { action: 'unlock', userIds: [unknown] }) }
    }
    const tenants = await Promise.all(Array.from({ length: 8 }, start))
    for (const { start } of tenants) for (let job = 0; job < 5; job++) await start()
    // A process takes four jobs at a time.
    for (const { tenant } of tenants.slice(0, 4))
      await dbFor(tenant).bulkJob.updateMany({ where: { tenantId: tenant }, data: { caller: {} } })
    expect(await run({ action: 'unlock', userIds: [unknown] }, ctx)).toMatchObject({ failed: 1 })
    for (const { tenant } of tenants.slice(4))
      await waitFor(async () => {
        expect(await dbFor(tenant).bulkJob.count({ where: { tenantId: tenant, finishedAt: null } })).toBe(0)
      })
    for (const { tenant } of tenants) await dbFor(tenant).bulkJob.deleteMany({ where: { tenantId: tenant } })
  })

  test('changes no user after it was canceled', async ({ ctx, makeUsers, startWorker, events }) => {
    const userIds = await makeUsers(600)
    const { id } = await bulkUpdateUsers(ctx, { action: 'delete', userIds })
    startWorker()
    startWorker()
    // The log would wait for other transactions.
    const { bulkJobUser } = dbFor(ctx.tenant)
    await waitFor(async () =>
      expect(await bulkJobUser.count({ where: { tenantId: ctx.tenant, jobId: id } })).toBeLessThan(590),
    )
    const canceled = await cancelBulkJob(ctx, id)
    const deleted = countOf(await events(), 'user.deleted')
    expect(canceled).toMatchObject({ status: 'canceled', total: 600, done: deleted, failed: 0 })
    expect(deleted).toBeLessThan(600)
    await expect(cancelBulkJob(ctx, id)).rejects.toMatchObject({ code: 'CONFLICT' })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(countOf(await events(), 'user.deleted')).toBe(deleted)
  })

  test('stops when the caller has lost the access', async ({ ctx, makeUsers, run }) => {
    const userIds = await makeUsers(3)
    const admin = await asUser(ctx, 'admin')
    const { id } = await bulkUpdateUsers(admin, { action: 'lock', userIds })
    await lockUser(ctx, admin.userId)
    await run({ action: 'unlock', userIds })
    expect(
      await waitFor(async () => {
        const job = await getBulkJob(ctx, id)
        expect(job.finishedAt).not.toBeNull()
        return job
      }),
    ).toMatchObject({ status: 'stopped', done: 0, problem: expect.stringContaining('no access') })
    expect((await getUser(ctx, userIds[0] ?? '')).locked).toBe(false)
  })

  test('takes users or a filter, roles where the action has them, and the scopes of the single operation', async ({
    ctx,
  }) => {
    const userIds = [(await createUser(ctx, {})).id]
    for (const [input, fields] of [
      [{ action: 'lock' }, ['userIds']],
      [{ action: 'lock', userIds, filter: {} }, ['userIds']],
      [{ action: 'lock', userIds, roles: ['admin'] }, ['roles']],
      [{ action: 'add-roles', userIds, roles: [] }, ['roles']],
      [{ action: 'revoke-client-access', userIds }, ['action']],
      [{ action: 'lock', userIds: Array(1001).fill(userIds[0]) }, ['userIds']],
      [{ action: 'lock', filter: { locked: true, role: 'admin' } }, ['locked', 'role']],
    ] as const)
      await expect(bulkUpdateUsers(ctx, input)).rejects.toMatchObject({
        fields: fields.map((field) => ({ field })),
      })
    const writer = await ctxFor(ctx.tenant, ['users:read', 'users:write'])
    await expect(bulkUpdateUsers(writer, { action: 'end-sessions', userIds })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(
      bulkUpdateUsers(writer, { action: 'lock', filter: { hasCredential: true } }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('waits for others when a tenant has five', async ({ ctx }) => {
    const input = { action: 'lock', userIds: [(await createUser(ctx, {})).id] }
    const started = await Promise.allSettled(Array.from({ length: 8 }, () => bulkUpdateUsers(ctx, input)))
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    await expect(bulkUpdateUsers(ctx, input)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })
})
