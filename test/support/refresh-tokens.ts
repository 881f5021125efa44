import { dbFor } from '../../src/database/db.ts'
import { test as base } from './visitor.ts'

export const OFFLINE_SCOPE = 'openid email offline_access'

/** The response to a refresh token that is not accepted. */
export const INVALID_REFRESH_TOKEN = {
  status: 400,
  body: {
    error: 'invalid_grant',
    error_description: 'The refresh token is invalid, expired, or was used before.',
  },
}

const toGrantId = (refreshToken: string): string => refreshToken.split('.')[0] as string

/** `test` with the grants of refresh tokens. */
export const test = base
  /** A refresh token of a user who is signed in for this test alone. */
  .extend('refreshToken', async ({ ownVisitor }) => {
    const { refresh_token: token } = await ownVisitor.newTokens({ scope: OFFLINE_SCOPE })
    return token
  })
  .extend(
    'findGrant',
    { scope: 'file' },
    ({ tenant }) =>
      (token: string) =>
        dbFor(tenant).grant.findUniqueOrThrow({
          where: { tenantId_id: { tenantId: tenant, id: toGrantId(token) } },
        }),
  )
  .extend(
    'changeGrant',
    { scope: 'file' },
    ({ tenant }) =>
      (token: string, data: object) =>
        dbFor(tenant).grant.update({
          where: { tenantId_id: { tenantId: tenant, id: toGrantId(token) } },
          data,
        }),
  )
  /** Lists the types of the events about a token's grant. */
  .extend('listEventTypes', { scope: 'file' }, ({ tenant }) => async (token: string): Promise<string[]> => {
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, subjectIds: { has: toGrantId(token) } },
      orderBy: { seq: 'asc' },
    })
    return events.map(({ type }) => type)
  })
