import { setTimeout as sleep } from 'node:timers/promises'
import { requireScope } from '../access/require-scope.ts'
import { revokeAccess } from '../access/revocation/revocation.ts'
import type { BulkJobAction } from '../bulk/bulk-jobs.fields.ts'
import {
  completeJob,
  deleteJobUser,
  insertJobUsers,
  lockSelection,
  saveFailure,
  saveProgress,
  saveSelection,
  selectUnfinishedJobs,
  takeUser,
} from '../bulk/bulk-jobs.sql.ts'
import { endBulkJob, getActionScope, type StoredCaller } from '../bulk/bulk-jobs.ts'
import { type Ctx, createPlatformCtx } from '../context/context.ts'
import { errorMessage } from '../core/error-message.ts'
import { AppError, Forbidden, NotFound } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { toRoleNames } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import { isProtocolActive } from '../core/turns.ts'
import type { Db, Tx } from '../database/handle.ts'
import { onInserted } from '../database/insertions.ts'
import { system } from '../database/system.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { BulkJob as BulkJobModel } from '../generated/prisma/client.ts'
import { revokeUserSessions } from '../sessions/revoke-sessions.ts'
import { listUsers } from '../users/list/user-list.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { setUserRoles } from '../users/roles.ts'
import { deleteUser, lockUser, unlockUser } from '../users/users.ts'
import { openCallerCtx } from './bulk-caller.ts'

/** Jobs of one process at a time. Others wait; other processes work on the same ones. */
const MAX_RUNNING = 4
/** Users that one transaction adds to a job. */
const SELECTION_PAGE = 250
/** Users that are changed before the access of the caller is checked again. */
const USERS_PER_CHECK = 25
const PROGRESS_MS = 1000
/** Attempts at a user whose change fails for a reason that passes, such as a deadlock. */
const MAX_ATTEMPTS = 5
const FIRST_PAUSE_MS = 100
/** A job that an error has interrupted is tried again after this time. */
const INTERRUPTED_MS = 30_000
/** How often jobs that other processes have started, or that a process has left, are looked for. */
const POLL_MS = 3000

type Job = Pick<BulkJobModel, 'id' | 'roles' | 'clientId'> & { action: BulkJobAction }

/** Changes the roles of a user as setUserRoles does, from those that the user has. */
async function changeRoles(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  change: (roles: string[]) => string[],
): Promise<void> {
  const user = await lockUserRow(tx, userId)
  if (!user) throw new NotFound('user')
  await setUserRoles(ctx, userId, { roles: change(toRoleNames(user.roles)) })
}

/** Changes one user as the single operation does. `ctx.db` is the transaction. */
async function changeUser(
  tx: Tx,
  ctx: Ctx,
  { action, roles, clientId }: Job,
  userId: string,
): Promise<unknown> {
  const { actor } = ctx
  if (actor.kind === 'user' && actor.userId === userId && action !== 'revoke-client-access')
    throw new Forbidden('A bulk job does not change the account of its caller.')
  switch (action) {
    case 'lock':
      return lockUser(ctx, userId)
    case 'unlock':
      return unlockUser(ctx, userId)
    case 'end-sessions':
      return revokeUserSessions(ctx, userId)
    case 'set-roles':
      return setUserRoles(ctx, userId, { roles })
    case 'add-roles':
      return changeRoles(tx, ctx, userId, (own) => [...own, ...roles])
    case 'remove-roles':
      return changeRoles(tx, ctx, userId, (own) => own.filter((role) => !roles.includes(role)))
    case 'delete':
      return deleteUser(ctx, userId)
    case 'revoke-client-access':
      if (!(await lockUserRow(tx, userId)) || clientId === null) return
      return revokeAccess(tx, ctx, { kind: 'user and client', userId, clientId }, 'revoked')
  }
}

/**
 * Changes the next user of a job, and removes the user from it in the same transaction: a process that ends leaves the
 * user to another one, and nobody is changed twice. False when no user is left that no other process has locked.
 */
async function changeNextUser(ctx: Ctx, job: Job): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    let userId: string | undefined
    try {
      return await ctx.db.transaction(async (tx) => {
        userId = (await takeUser(tx, job.id))?.userId
        if (userId === undefined) return false
        const db = tx.join()
        try {
          await db.transaction(() => changeUser(tx, { ...ctx, db }, job, userId as string))
        } catch (thrown) {
          const { code, message, cause } = toAppError(thrown)
          if (code === 'UNAVAILABLE') throw thrown
          if (code === 'INTERNAL_SERVER_ERROR')
            log.error({ job: job.id, userId, err: cause }, 'a user could not be changed')
          await saveFailure(tx, { jobId: job.id, userId, code, message })
          return true
        }
        await deleteJobUser(tx, job.id, userId)
        return true
      })
    } catch (thrown) {
      const { code, message } = toAppError(thrown)
      if (code !== 'UNAVAILABLE' || userId === undefined) throw thrown
      if (attempt === MAX_ATTEMPTS) {
        await saveFailure(ctx.db, { jobId: job.id, userId, code, message })
        return true
      }
      await sleep(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()))
    }
  }
}

/** Adds the next users of a filter to the job. False when another process does, or all have been added. */
const selectUsers = (ctx: Ctx, id: string): Promise<boolean> => {
  // The list is read on another connection, which the workload does not limit.
  const reader = { ...ctx, db: createPlatformCtx(ctx.tenant).db }
  return reader.db.transaction(async (tx) => {
    const selection = await lockSelection(tx, id)
    if (!selection) return false
    const { filter, position } = selection
    const args = { filter, first: SELECTION_PAGE, after: position }
    const { rows, hasNextPage, encodeRowCursor } = await listUsers(reader, args, { fields: ['id'] })
    const userIds = rows.map((row) => row.id)
    await insertJobUsers(tx, id, userIds)
    const last = rows.at(-1)
    await saveSelection(tx, id, hasNextPage && last ? encodeRowCursor(last as never) : null)
    return true
  })
}

/** The context of the caller. Throws Forbidden when the caller may not do this any more. */
async function openJobCtx(tenant: string, job: Job, caller: StoredCaller): Promise<Ctx> {
  const ctx = await openCallerCtx(tenant, caller)
  if (!ctx) throw new Forbidden('The caller of the job has no access any more.')
  requireScope(ctx, getActionScope(job.action))
  return ctx
}

/** Whether the users of a job can be changed: no process adds users any more. */
const isRunning = async ({ prisma, tenant }: Db, id: string): Promise<boolean> =>
  (await prisma.bulkJob.count({ where: { tenantId: tenant, id, status: 'running' } })) > 0

/** Works on a job until no user is left, the job has ended, or `isStopped`. */
async function workOnJob(tenant: string, id: string, isStopped: () => boolean): Promise<void> {
  const { db } = createPlatformCtx(tenant)
  const stored = await db.prisma.bulkJob.findUnique({ where: { tenantId_id: { tenantId: tenant, id } } })
  if (!stored || stored.finishedAt) return
  const job = stored as typeof stored & Job
  const caller = stored.caller as StoredCaller
  try {
    let ctx = await openJobCtx(tenant, job, caller)
    if (job.status === 'selecting') {
      while (!isStopped() && (await selectUsers(ctx, id)));
      if (!(await isRunning(db, id))) return
    }
    let savedAt = Number.NEGATIVE_INFINITY
    for (let count = 1; !isStopped(); count++) {
      const startedAt = performance.now()
      if (!(await changeNextUser(ctx, job))) break
      if (performance.now() - savedAt > PROGRESS_MS) {
        await recordProgress(ctx, id)
        savedAt = performance.now()
      }
      if (count % USERS_PER_CHECK === 0) ctx = await openJobCtx(tenant, job, caller)
      if (isProtocolActive()) await sleep(performance.now() - startedAt)
    }
    await finishJob(ctx, id)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    const ctx = createPlatformCtx(tenant)
    await ctx.db.transaction((tx) => endBulkJob(tx, ctx, { id, status: 'stopped', problem: error.message }))
  }
}

/** Saves how many users have been changed, with an event for those who watch. */
const recordProgress = (ctx: Ctx, id: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const counts = await saveProgress(tx, id)
    if (counts) await recordEvents(tx, ctx, [createEvent('bulk_job.progressed', { bulkJobId: id }, counts)])
  })

/** Completes a job whose users are all done, with its event. */
const finishJob = (ctx: Ctx, id: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const counts = await completeJob(tx, id)
    if (counts)
      await recordEvents(tx, ctx, [
        createEvent('bulk_job.finished', { bulkJobId: id }, { status: 'completed', ...counts }),
      ])
  })

/**
 * Works on the jobs of all tenants, whenever this process has stored one and every few seconds. The returned function stops
 * it and resolves when nothing is being changed.
 */
export function startBulkJobs(): () => Promise<void> {
  const running = new Map<string, Promise<void>>()
  /** Jobs that this process has left, with the time from which it takes them again. Others go first. */
  const left = new Map<string, number>()
  let isStopped = false
  let timer: NodeJS.Timeout
  let claiming = Promise.resolve()

  const start = (tenant: string, id: string): void => {
    const work = workOnJob(tenant, id, () => isStopped)
      .then(
        // Another process may still change its last users.
        () => POLL_MS,
        (error: unknown) => {
          if (!isStopped) log.warn({ tenant, job: id, err: errorMessage(error) }, 'a bulk job is interrupted')
          return INTERRUPTED_MS
        },
      )
      .then((pauseMs) => {
        running.delete(id)
        left.set(id, performance.now() + pauseMs)
        wake()
      })
    running.set(id, work)
  }

  const claim = async (): Promise<void> => {
    if (isStopped || running.size >= MAX_RUNNING) return
    for (const [id, until] of left) if (until < performance.now()) left.delete(id)
    const excepted = [...running.keys(), ...left.keys()]
    const jobs = await selectUnfinishedJobs(system, MAX_RUNNING - running.size, excepted)
    if (!isStopped) for (const { tenantId, id } of jobs) start(tenantId, id)
  }

  const wake = (): void => {
    claiming = claiming.then(claim).catch((error: unknown) => {
      if (!isStopped) log.warn({ err: errorMessage(error) }, 'cannot look for bulk jobs')
    })
  }

  const poll = (): void => {
    wake()
    timer = setTimeout(poll, POLL_MS * (0.75 + Math.random() / 2)).unref()
  }

  const stopListening = onInserted('BulkJob', wake)
  poll()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    stopListening()
    await claiming
    await Promise.all(running.values())
  }
}
