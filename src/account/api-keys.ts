import { requireOwnAccount, requireOwnChange } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import {
  type ApiKey,
  createApiKey,
  listApiKeys,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../api-keys/api-keys.ts'
import { MAX_KEYS } from '../api-keys/key-rules.ts'
import type { Ctx } from '../context/context.ts'
import { Forbidden } from '../core/errors.ts'
import { requireStepUp } from './step-up.ts'

/** The keys of the calling user, oldest first, also those that administrators created: all of them. */
export async function listViewerApiKeys(ctx: Ctx): Promise<ApiKey[]> {
  const { userId } = requireOwnAccount(ctx)
  return (await listApiKeys(ctx, { first: MAX_KEYS.user, filter: { userId } })).rows
}

/**
 * Creates a key of the calling user. Throws InvalidInput, StepUpRequired, Conflict, and Forbidden where the tenant does not
 * permit it.
 */
export async function createViewerApiKey(ctx: Ctx, input: object): Promise<NewApiKey> {
  const { userId } = await requireStepUp(ctx)
  if (!(await findTenant(ctx.tenant))?.userApiKeys)
    throw new Forbidden('The tenant does not permit users to create API keys.')
  return createApiKey(ctx, { ...input, userId }, { byManagement: false })
}

/** Replaces a key of the calling user. Throws InvalidInput, StepUpRequired and NotFound. */
export async function rotateViewerApiKey(ctx: Ctx, id: string, input: object) {
  const { userId: ownerId } = await requireStepUp(ctx)
  return rotateApiKey(ctx, id, input, { ownerId })
}

/** Revokes a key of the calling user. Throws NotFound. */
export async function revokeViewerApiKey(ctx: Ctx, id: string): Promise<{ revokedApiKeyId: string }> {
  const { userId } = requireOwnChange(ctx)
  return revokeApiKey(ctx, id, { ownerId: userId })
}
