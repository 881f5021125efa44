import { requireOwnAccount, requireOwnChange } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import type { Db } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import { parseInput } from '../schema/input-shapes.ts'
import {
  type AccountDeletion,
  deleteDeletion,
  insertDeletion,
  selectDeletions,
} from '../users/deletion/account-deletions.sql.ts'
import { announceDeletion, announceDeletionCanceled } from '../users/deletion/deletion-notices.ts'
import { getUser } from '../users/users.ts'
import { SetViewerDeletion } from './account.fields.ts'
import { requireStepUp } from './step-up.ts'

export type { AccountDeletion }

const DAY_SECONDS = 86_400

/** The days after which users who ask for it are deleted; 0 when they cannot. One cached look-up. */
export const findDeletionDays = async ({ tenant }: Ctx): Promise<number> =>
  (await findTenant(tenant))?.accountDeletionDays ?? 0

/** The requests of those of these users who asked to be deleted, with the ids of the users. One statement. */
export const findDeletions = (db: Db, userIds: string[]) => selectDeletions(db, userIds)

/** The caller's request to be deleted, if any. One statement. Throws Unauthenticated and Forbidden. */
export const findViewerDeletion = async (ctx: Ctx): Promise<AccountDeletion | null> =>
  (await findDeletions(ctx.db, [requireOwnAccount(ctx).userId]))[0] ?? null

/** A user's request to be deleted, if any. Throws NotFound. */
export async function findUserDeletion(ctx: Ctx, userId: string): Promise<AccountDeletion | null> {
  const { id } = await getUser(ctx, userId)
  const [found] = await findDeletions(ctx.db, [id])
  return found ? { requestedAt: found.requestedAt, dueAt: found.dueAt } : null
}

/**
 * Requests the deletion of the caller, which is due after the days of the tenant's setting. A further request changes
 * nothing. The user is told how to keep the account. Throws InvalidInput when the tenant does not permit it, and as
 * requireStepUp.
 */
export async function requestViewerDeletion(ctx: Ctx): Promise<AccountDeletion> {
  const now = new Date()
  const { userId } = await requireStepUp(ctx, now)
  const days = await findDeletionDays(ctx)
  if (days === 0)
    throw new InvalidInput([{ field: 'requested', description: 'is not permitted by the tenant' }])
  const dueAt = addSeconds(now, days * DAY_SECONDS)
  const event = createEventRow(
    ctx,
    createEvent('user.deletion_requested', { userId }, { due_at: dueAt.toISOString() }),
  )
  const request = await insertDeletion(ctx.db, { userId, now, dueAt }, event)
  if (!request) throw new NotFound('user')
  if (request.isNew) announceDeletion(ctx, userId, request.dueAt, now)
  return { requestedAt: request.requestedAt, dueAt: request.dueAt }
}

/** Cancels the caller's request to be deleted, if there is one. One statement. Throws Unauthenticated and Forbidden. */
export async function cancelViewerDeletion(ctx: Ctx): Promise<{ isCanceled: boolean }> {
  const { userId } = requireOwnChange(ctx)
  const isCanceled = await deleteDeletion(
    ctx.db,
    userId,
    createEventRow(ctx, createEvent('user.deletion_canceled', { userId })),
  )
  if (isCanceled) announceDeletionCanceled(ctx, userId, new Date())
  return { isCanceled }
}

/**
 * Requests or cancels the deletion of the caller. Returns the request, or null without one. Throws InvalidInput, and as
 * requireStepUp.
 */
export async function setViewerDeletion(ctx: Ctx, input: unknown): Promise<AccountDeletion | null> {
  if (parseInput(SetViewerDeletion, input).requested) return requestViewerDeletion(ctx)
  await cancelViewerDeletion(ctx)
  return null
}
