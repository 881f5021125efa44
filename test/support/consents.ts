import { dbFor } from '../../src/database/db.ts'
import type { CallOptions } from './calls.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'
import { makeSpa } from './people.ts'

type Outcome = Json
type ConsentCalls = {
  /** The consents of a user, or the code of the error. */
  list: (userId: string, options?: CallOptions) => Promise<Outcome>
  /** `revoked`, or the code and message of the error. */
  revoke: (userId: string, clientId: string, options?: CallOptions) => Promise<Outcome>
}

const SELECTION = `page pageSize totalSize pageInfo { endCursor hasNextPage }
  nodes { clientId clientName clientLogoUrl updatedAt createdAt scopes { scope words } claims { claim words } resources }`
export const SURFACES = ['REST', 'GraphQL'] as const

export const test = base
  /** A client that requires the consent of every user. */
  .extend('game', { scope: 'file' }, ({ tenant }) =>
    makeSpa(tenant, { name: 'Game', logoUrl: 'https://game.example.com/logo.png', requireConsent: true }),
  )
  /** Signs a new user in at the game with consent to every scope. */
  .extend('signInPlayer', { scope: 'file' }, ({ signIn, newPerson, game }) => async () => {
    const { email } = await newPerson()
    return signIn(email, { client: game, scope: 'openid email account session offline_access' })
  })
  /** A new user with a consent for each of three clients. */
  .extend('newConsents', { scope: 'file' }, ({ tenant, newPerson }) => async () => {
    const { id: userId } = await newPerson()
    const clients = [await makeSpa(tenant), await makeSpa(tenant), await makeSpa(tenant)]
    const data = clients.map(({ id }) => ({ tenantId: tenant, userId, clientId: id, scopes: ['openid'] }))
    await dbFor(tenant).consent.createMany({ data })
    return { userId, clientIds: clients.map(({ id }) => id) }
  })
  .extend('consents', { scope: 'file' }, ({ rest, gql }) => {
    const calls: Record<(typeof SURFACES)[number], ConsentCalls> = {
      REST: {
        list: async (userId, options) => {
          const { body } = await rest('GET', `/users/${userId}/consents`, undefined, options)
          return body.consents ?? { code: body.code }
        },
        revoke: async (userId, clientId, options) => {
          const path = `/users/${userId}/consents/${clientId}`
          const { status, body } = await rest('DELETE', path, undefined, options)
          return status === 200 ? 'revoked' : { code: body.code, message: body.message }
        },
      },
      GraphQL: {
        list: async (userId, options) => {
          const query = `query ($id: ID!) { user(id: $id) { consents { ${SELECTION} } } }`
          const { body } = await gql(query, { id: userId }, options)
          if (body.errors) return { code: body.errors[0]?.extensions.code }
          return body.data.user?.consents.nodes ?? { code: 'NOT_FOUND' }
        },
        revoke: async (userId, clientId, options) => {
          const mutation = `mutation ($input: RevokeUserConsentInput!) { revokeUserConsent(input: $input) {
            ... on RevokeUserConsentPayload { revokedClientId } ... on UserError { code message } } }`
          const { body } = await gql(mutation, { input: { userId, clientId } }, options)
          if (body.errors) return { code: body.errors[0]?.extensions.code, message: body.errors[0]?.message }
          const { revokedClientId, ...error } = body.data.revokeUserConsent
          return revokedClientId === clientId ? 'revoked' : error
        },
      },
    }
    return calls
  })
