import type { Ctx } from '../context/context.ts'
import { newId, randomToken, readIdPrefix, sha256 } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import type { Db } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { RegistrationToken as Row } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { RegistrationTokenCreate } from './registration-tokens.fields.ts'

/** An initial access token (RFC 7591, section 3), without the token itself. */
export type RegistrationToken = Omit<Row, 'tokenHash'>

const HIDDEN_COLUMNS = { tokenHash: true } as const

/**
 * Issues an initial access token of 256 random bits, which is returned only here. It is accepted while the
 * tenant has dynamicRegistration on. Throws InvalidInput.
 */
export async function createRegistrationToken(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<{ registrationToken: RegistrationToken; token: string }> {
  const {
    note = null,
    uses,
    expiresInSeconds,
  } = parseInput(RegistrationTokenCreate, input === undefined ? {} : input)
  const token = randomToken()
  const registrationToken = await ctx.db.transaction(async (tx) => {
    const created = await tx.prisma.registrationToken.create({
      data: {
        tenantId: ctx.tenant,
        id: newId('regtoken'),
        tokenHash: sha256(token),
        note,
        usesLeft: uses,
        expiresAt: addSeconds(now, expiresInSeconds),
      },
      omit: HIDDEN_COLUMNS,
    })
    await recordEvents(tx, ctx, [
      createEvent('registration_token.created', { registrationTokenId: created.id }),
    ])
    return created
  })
  return { registrationToken, token }
}

/** What cursors of the list of registration tokens are bound to. */
export const toTokenListName = (tenant: string): string => `${tenant}:registration-tokens`

/** Selects the tokens of a tenant that can be used. */
export const buildActiveCondition = (tenant: string, now = new Date()) => ({
  tenantId: tenant,
  expiresAt: { gt: now },
  OR: [{ usesLeft: null }, { usesLeft: { gt: 0 } }],
})

/** The active tokens of the tenant with these ids, in any order. */
export const findRegistrationTokens = ({ prisma, tenant }: Db, ids: string[]): Promise<RegistrationToken[]> =>
  prisma.registrationToken.findMany({
    where: { ...buildActiveCondition(tenant), id: { in: ids } },
    omit: HIDDEN_COLUMNS,
  })

/** The active tokens, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listRegistrationTokens(ctx: Ctx, args: PageArgs): Promise<Page<RegistrationToken>> {
  const { registrationToken } = ctx.db.prisma
  const isActive = buildActiveCondition(ctx.tenant)
  return listInOrder(ctx, args, {
    name: toTokenListName(ctx.tenant),
    column: 'id',
    read: (page) =>
      registrationToken.findMany({ ...page, where: { ...isActive, ...page.where }, omit: HIDDEN_COLUMNS }),
    countAll: () => registrationToken.count({ where: isActive }),
  })
}

/** Revokes a token; clients that it registered stay. Throws NotFound. */
export async function revokeRegistrationToken(
  ctx: Ctx,
  registrationTokenId: string,
): Promise<{ revokedRegistrationTokenId: string }> {
  if (readIdPrefix(registrationTokenId) !== 'regtoken') throw new NotFound('registration token')
  await ctx.db.transaction(async (tx) => {
    const where = { tenantId: ctx.tenant, id: registrationTokenId }
    if ((await tx.prisma.registrationToken.deleteMany({ where })).count === 0)
      throw new NotFound('registration token')
    await recordEvents(tx, ctx, [createEvent('registration_token.revoked', { registrationTokenId })])
  })
  return { revokedRegistrationTokenId: registrationTokenId }
}
