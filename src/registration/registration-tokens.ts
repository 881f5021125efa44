import { newId, prefixOf, randomToken, sha256 } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { dbFor, inTransaction, sqlOf } from '../db.ts'
import { NotFound } from '../errors.ts'
import { recordEvents, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { RegistrationToken as Row } from '../generated/prisma/client.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { after } from '../time.ts'
import { RegistrationTokenCreate } from './registration-tokens.fields.ts'
import { deleteToken } from './registration-tokens.sql.ts'

/** Permits applications to register themselves: an initial access token (RFC 7591, section 3), without the token. */
export type RegistrationToken = Omit<Row, 'tokenHash'>

const HIDDEN = { tokenHash: true } as const

/**
 * Issues an initial access token of 256 random bits, which is returned here and nowhere else. It works while the tenant has
 * dynamicRegistration on. Throws InvalidInput.
 */
export async function createRegistrationToken(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<{ registrationToken: RegistrationToken; token: string }> {
  const { note = null, uses, expiresInSeconds } = parse(RegistrationTokenCreate, input ?? {})
  const token = randomToken()
  const registrationToken = await dbFor(ctx.tenant).$transaction(async (tx) => {
    const created = await tx.registrationToken.create({
      data: {
        tenantId: ctx.tenant,
        id: newId('regtoken'),
        tokenHash: sha256(token),
        note,
        usesLeft: uses,
        expiresAt: after(now, expiresInSeconds),
      },
      omit: HIDDEN,
    })
    await recordEvents(sqlOf(tx), ctx, [{ type: 'registration_token.created', subjectIds: [created.id] }])
    return created
  })
  wakeReaders(ctx.tenant)
  return { registrationToken, token }
}

/** The tokens that still permit something, oldest first: one statement, and one more for totalSize. Throws InvalidInput. */
export async function listRegistrationTokens(ctx: Ctx, args: PageArgs): Promise<Page<RegistrationToken>> {
  const name = `${ctx.tenant}:registration-tokens`
  const paging = parsePaging(args, name)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const db = dbFor(ctx.tenant)
  const live = {
    tenantId: ctx.tenant,
    expiresAt: { gt: new Date() },
    OR: [{ usesLeft: null }, { usesLeft: { gt: 0 } }],
  }
  const rows = await db.registrationToken.findMany({
    where: seek ? { ...live, id: backward ? { lt: seek.id } : { gt: seek.id } } : live,
    orderBy: { id: backward ? 'desc' : 'asc' },
    skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    take: paging.pageSize + 1,
    omit: HIDDEN,
  })
  return toPage(paging, rows, {
    name,
    keyOf: ({ id }) => ({ value: null, id }),
    countAll: () => db.registrationToken.count({ where: live }),
  })
}

/** Revokes a token; clients that it let in stay. Throws NotFound. */
export async function revokeRegistrationToken(
  ctx: Ctx,
  registrationTokenId: string,
): Promise<{ revokedRegistrationTokenId: string }> {
  if (prefixOf(registrationTokenId) !== 'regtoken') throw new NotFound('registration token')
  await inTransaction(async (sql) => {
    if (!(await deleteToken(sql, ctx.tenant, registrationTokenId))) throw new NotFound('registration token')
    await recordEvents(sql, ctx, [{ type: 'registration_token.revoked', subjectIds: [registrationTokenId] }])
  })
  wakeReaders(ctx.tenant)
  return { revokedRegistrationTokenId: registrationTokenId }
}
