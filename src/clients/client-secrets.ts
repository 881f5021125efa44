import { isClientId } from '../access/client-ids.ts'
import type { Ctx } from '../context/context.ts'
import { randomToken, sha256 } from '../core/crypto.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import type { Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { lockClientRow } from './client-changes.sql.ts'
import {
  mayHaveSecret,
  requireClientControl,
  requirePlatformForSharedClient,
  writeClient,
} from './client-changes.ts'
import { SecretRotation } from './client-inputs.fields.ts'
import type { Client } from './clients.ts'

export type RotatedSecret = {
  client: Client
  /** 256 random bits, returned only once. */
  secret: string
  /** When the previous secret expires; null when there is none. */
  previousSecretExpiresAt: Date | null
}

/**
 * Gives a locked client a new secret: the current one expires at `previousExpiresAt` (null: it is deleted), older ones
 * are deleted. True when the current secret stays valid.
 */
async function replaceSecret(
  { prisma, tenant }: Tx,
  clientId: string,
  secretHash: Buffer<ArrayBuffer>,
  previousExpiresAt: Date | null,
): Promise<boolean> {
  const ofClient = { tenantId: tenant, clientId }
  await prisma.clientSecret.deleteMany({
    where: { ...ofClient, ...(previousExpiresAt && { expiresAt: { not: null } }) },
  })
  const { count } = await prisma.clientSecret.updateMany({
    where: { ...ofClient, expiresAt: null },
    data: { expiresAt: previousExpiresAt },
  })
  await prisma.clientSecret.create({ data: { ...ofClient, secretHash } })
  return count > 0
}

/**
 * Creates a new secret. The current one stays valid for `overlapSeconds` (0 to 30 days, by default one day);
 * an older one is deleted, so that at most two are valid. Throws NotFound, InvalidInput (also for a public
 * client), and Forbidden when the caller lacks scopes of the client, or for an operator's client.
 */
export async function rotateClientSecret(
  ctx: Ctx,
  clientId: string,
  input: unknown,
  now = new Date(),
): Promise<RotatedSecret> {
  const { overlapSeconds } = parseInput(SecretRotation, input === undefined ? {} : input)
  if (!isClientId(clientId)) throw new NotFound('client')
  const secret = randomToken()
  const overlapEnd = overlapSeconds > 0 ? new Date(now.getTime() + overlapSeconds * 1000) : null
  const { client, overlaps } = await ctx.db.transaction(async (tx) => {
    const current = await lockClientRow(tx, clientId)
    if (!current) throw new NotFound('client')
    requirePlatformForSharedClient(ctx, current)
    requireClientControl(ctx, [current])
    if (!mayHaveSecret(current))
      throw new InvalidInput([
        {
          field: 'clientId',
          description: `is a ${current.appType} client, which cannot keep a secret`,
        },
      ])
    const overlaps = await replaceSecret(tx, clientId, sha256(secret), overlapEnd)
    await recordEvents(tx, ctx, [createEvent('client.updated', { clientId, changedFields: ['secret'] })])
    return { client: await writeClient(tx, current, {}), overlaps }
  })
  return { client, secret, previousSecretExpiresAt: overlaps ? overlapEnd : null }
}
