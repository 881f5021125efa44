import { shareKnownRoles } from '../access/held-roles.sql.ts'
import { requireScope } from '../access/require-scope.ts'
import { requireClientControl, requirePlatformForSharedClient } from '../clients/client-changes.ts'
import { getClient } from '../clients/clients.ts'
import type { Actor, Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound, RateLimited } from '../core/errors.ts'
import type { Scope } from '../core/scopes.ts'
import type { Db, Tx } from '../database/handle.ts'
import { announceInsertion } from '../database/insertions.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { type BulkJob as BulkJobModel, Prisma } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { listUsers } from '../users/list/user-list.ts'
import { type BulkJobAction, BulkUserUpdate, MAX_USERS } from './bulk-jobs.fields.ts'
import {
  deleteOldJobs,
  endJob,
  insertJobUsers,
  insertUsersOfClient,
  lockTenantForJobs,
} from './bulk-jobs.sql.ts'

const HIDDEN_COLUMNS = { tenantId: true, filter: true, position: true, caller: true } as const
export type BulkJob = Omit<BulkJobModel, keyof typeof HIDDEN_COLUMNS>
export type BulkFailure = { userId: string; code: string; message: string }

/** Unfinished jobs of a tenant. */
const MAX_UNFINISHED = 5
/** Finished jobs of a tenant that are kept, for a week at most. */
const MAX_KEPT = 50
const RETRY_SECONDS = 10

/** The scope that an action requires, as the single operation does. */
export const getActionScope = (action: BulkJobAction): Scope =>
  action === 'revoke-client-access'
    ? 'clients:write'
    : action === 'end-sessions'
      ? 'sessions:write'
      : 'users:write'

/** The caller of a job as it is stored. */
export type StoredCaller = {
  actor: Exclude<Actor, { kind: 'anonymous' }>
  scopes: Scope[]
  requestId: string
  ip?: string | null
  userAgent: string | null
}

function toStoredCaller({ actor, scopes, requestId, ip, userAgent }: Ctx): object {
  const { oidcScopes: _, ...ids } = actor as Extract<Actor, { kind: 'user' }>
  return { actor: ids, scopes: [...scopes], requestId, ip, userAgent }
}

type NewJob = {
  action: BulkJobAction
  roles?: string[] | undefined
  clientId?: string
  filter?: object | undefined
  /** The users of a filter, as they are counted before they are listed. */
  total?: number
}

/** Stores a job with its event. `addUsers` returns the number of users; a filter is read later. Throws RateLimited. */
const storeJob = (
  ctx: Ctx,
  { action, roles = [], clientId, filter, total = 0 }: NewJob,
  addUsers: (tx: Tx, jobId: string) => Promise<number>,
): Promise<BulkJob> =>
  ctx.db.transaction(async (tx) => {
    await lockTenantForJobs(tx)
    const where = { tenantId: ctx.tenant, finishedAt: null }
    if ((await tx.prisma.bulkJob.count({ where })) >= MAX_UNFINISHED)
      throw new RateLimited(RETRY_SECONDS, `A tenant has at most ${MAX_UNFINISHED} unfinished bulk jobs.`)
    await deleteOldJobs(tx, MAX_KEPT - 1)
    const id = newId('bulkjob')
    const data = {
      tenantId: ctx.tenant,
      id,
      action,
      roles,
      clientId: clientId ?? null,
      filter: filter ?? Prisma.DbNull,
      caller: toStoredCaller(ctx) as Prisma.InputJsonObject,
      status: filter ? 'selecting' : 'running',
      total,
    }
    await tx.prisma.bulkJob.create({ data })
    tx.afterCommit('insert BulkJob', () => announceInsertion('BulkJob', ctx.tenant))
    const users = filter ? total : await addUsers(tx, id)
    const detail = { action, ...(roles.length > 0 && { roles: roles.join(' ') }), users }
    await recordEvents(tx, ctx, [
      createEvent('bulk_job.started', { bulkJobId: id, clientId: clientId ?? null }, detail),
    ])
    return tx.prisma.bulkJob.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: { total: users },
      omit: HIDDEN_COLUMNS,
    })
  })

/**
 * Starts a change of many users: those with the ids, or all that match a filter. Throws InvalidInput, Forbidden (a scope
 * of the action or of the filter), and RateLimited while too many jobs are unfinished.
 */
export async function bulkUpdateUsers(ctx: Ctx, input: unknown): Promise<BulkJob> {
  const { action, userIds, filter, roles } = parseInput(BulkUserUpdate, input)
  requireScope(ctx, getActionScope(action))
  const job = { action, roles: roles ? [...new Set(roles)].sort() : undefined }
  await shareKnownRoles(ctx.db, job.roles ?? [])
  if (!filter) return storeJob(ctx, job, (tx, id) => insertJobUsers(tx, id, [...new Set(userIds)]))
  // The filter as it was given is valid, and has a form in JSON.
  const given = (input as { filter: object }).filter
  const total = await (await listUsers(ctx, { filter: given, first: 1 }, { fields: ['id'] })).countAll()
  if (total > MAX_USERS)
    throw new InvalidInput([
      { field: 'filter', description: `matches ${total} users; a job takes at most ${MAX_USERS}` },
    ])
  return storeJob(ctx, { ...job, filter: given, total }, async () => total)
}

/**
 * Starts the end of all sessions and the revocation of all grants of a client, with their codes and logout tokens. Users
 * stay signed in to the tenant. The caller must have all scopes of the client, as to delete it. Throws NotFound, Forbidden
 * and RateLimited.
 */
export async function revokeClientAccess(ctx: Ctx, clientId: string): Promise<BulkJob> {
  const client = await getClient(ctx, clientId)
  requirePlatformForSharedClient(ctx, client)
  requireClientControl(ctx, [client])
  return storeJob(ctx, { action: 'revoke-client-access', clientId }, async (tx, id) => {
    // It waits for codes that are being redeemed, whose grants the job then finds. Earlier codes are void.
    await tx.prisma.client.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id: clientId } },
      data: { codeGeneration: { increment: 1 } },
    })
    return insertUsersOfClient(tx, id, clientId)
  })
}

/** The jobs of the tenant with these ids, in any order. */
export const findBulkJobs = ({ prisma, tenant }: Db, ids: string[]): Promise<BulkJob[]> =>
  prisma.bulkJob.findMany({ where: { tenantId: tenant, id: { in: ids } }, omit: HIDDEN_COLUMNS })

/** A job. Throws NotFound. */
export async function getBulkJob(ctx: Ctx, id: string): Promise<BulkJob> {
  const [job] = readIdPrefix(id) === 'bulkjob' ? await findBulkJobs(ctx.db, [id]) : []
  if (!job) throw new NotFound('bulk job')
  return job
}

/** What cursors of the list of jobs are bound to. */
export const toBulkJobListName = (tenant: string): string => `${tenant}:bulk-jobs`

/** The jobs of the tenant, oldest first. Throws InvalidInput. */
export const listBulkJobs = (ctx: Ctx, args: PageArgs): Promise<Page<BulkJob>> =>
  listInOrder(ctx, args, {
    name: toBulkJobListName(ctx.tenant),
    column: 'id',
    read: (page) =>
      ctx.db.prisma.bulkJob.findMany({
        ...page,
        where: { tenantId: ctx.tenant, ...page.where },
        omit: HIDDEN_COLUMNS,
      }),
    countAll: () => ctx.db.prisma.bulkJob.count({ where: { tenantId: ctx.tenant } }),
  })

/** The users whom a job could not change, by id. Throws NotFound and InvalidInput. */
export async function listBulkJobFailures(
  ctx: Ctx,
  jobId: string,
  args: PageArgs,
): Promise<Page<BulkFailure>> {
  const where = { tenantId: ctx.tenant, jobId, code: { not: null } }
  return listInOrder(ctx, args, {
    name: `${ctx.tenant}:bulk-jobs:${jobId}`,
    column: 'userId',
    read: async (page) => {
      await getBulkJob(ctx, jobId)
      return (await ctx.db.prisma.bulkJobUser.findMany({
        ...page,
        where: { ...where, ...page.where },
        select: { userId: true, code: true, message: true },
      })) as BulkFailure[]
    },
    countAll: () => ctx.db.prisma.bulkJobUser.count({ where }),
  })
}

/**
 * Ends a job inside the caller's transaction, with its event; users that are being changed at the moment are changed before.
 * False when it had ended.
 */
export async function endBulkJob(
  tx: Tx,
  ctx: Ctx,
  job: { id: string; status: 'canceled' | 'stopped'; problem: string | null },
): Promise<boolean> {
  const ended = await endJob(tx, job)
  if (!ended) return false
  await recordEvents(tx, ctx, [
    createEvent('bulk_job.finished', { bulkJobId: job.id }, { status: job.status, ...ended }),
  ])
  return true
}

/**
 * Cancels a job: when it returns, no further user is changed. Throws Forbidden without the scope of the action, NotFound,
 * and Conflict when the job has ended.
 */
export async function cancelBulkJob(ctx: Ctx, id: string): Promise<BulkJob> {
  requireScope(ctx, getActionScope((await getBulkJob(ctx, id)).action as BulkJobAction))
  const isEnded = await ctx.db.transaction((tx) =>
    endBulkJob(tx, ctx, { id, status: 'canceled', problem: null }),
  )
  if (!isEnded) throw new Conflict([], 'The job has ended.')
  return getBulkJob(ctx, id)
}
