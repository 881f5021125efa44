import { expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { createUser } from '../../src/users/users.ts'
import type { CallOptions } from './calls.ts'
import { sql } from './database.ts'
import { test as base } from './fixtures.ts'
import { newIdpId, type SURFACES } from './idps.ts'
import type { Json } from './json.ts'
import { startUpstream } from './upstream.ts'

/** A link or an error, with the status of REST: the same from both surfaces. */
type Outcome = Record<string, Json>
export type LinkWriter = {
  add: (userId: string, idpId: string, body: object, options?: CallOptions) => Promise<Outcome>
  link: (userId: string, idpId: string, body: object, options?: CallOptions) => Promise<Outcome>
  unlink: (userId: string, idpId: string, options?: CallOptions) => Promise<Outcome>
  get: (userId: string, idpId: string) => Promise<Outcome>
}

const FIELDS = 'idpId userId externalId metadata lastLoginAt disabledAt updatedAt createdAt'
const selectLink = (payload: string) => `... on ${payload} { idpUser { ${FIELDS} } }`
const STATUS: Record<string, number> = {
  BAD_USER_INPUT: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNAVAILABLE: 503,
}

export const linkIssue = (field: string, description: string) => ({
  status: 400,
  code: 'BAD_USER_INPUT',
  message: 'The request has invalid fields.',
  fields: [{ field, description }],
})
const conflict = (field: string, description: string, message: string) => ({
  status: 409,
  code: 'CONFLICT',
  message,
  fields: [{ field, description }],
})
export const TAKEN_IDENTITY = conflict(
  'externalId',
  'is linked to another user',
  'The identity is linked to another user.',
)
export const TAKEN_USER = conflict(
  'idpId',
  'is a provider to which the user is already linked',
  'The user is linked to another identity of this provider.',
)
export const nowInSeconds = () => Math.floor(Date.now() / 1000)

/**
 * `test` with an upstream provider, identity providers that lead to it, and the operations of links by
 * surface.
 */
export const test = base
  .extend('upstreamServer', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await startUpstream()
    onCleanup(server.close)
    return server
  })
  /** The upstream provider, without answers and requests of earlier tests. */
  .extend('upstream', ({ upstreamServer }) => {
    upstreamServer.before.clear()
    upstreamServer.asked.length = 0
    return upstreamServer
  })
  /** Makes an identity provider; by default the upstream one, which is found by its issuer. */
  .extend('newIdp', ({ tenant, upstream }) => async (fields: object = {}): Promise<string> => {
    const { id } = await createIdentityProvider(createPlatformCtx(tenant), {
      id: newIdpId(),
      type: 'oidc',
      name: 'Upstream',
      issuer: upstream.issuer,
      ...upstream.client,
      ...fields,
    })
    return id
  })
  .extend('newUserId', { scope: 'file' }, ({ tenant }) => async (roles: string[] = []): Promise<string> => {
    const { id } = await createUser(createPlatformCtx(tenant), {})
    if (roles.length > 0)
      await sql(`UPDATE "User" SET "roles" = $3 WHERE "tenantId" = $1 AND "id" = $2`, [tenant, id, roles])
    return id
  })
  /** The claims of a valid ID token for client `vestibule`. */
  .extend('claims', { scope: 'file' }, ({ upstreamServer }) => (subject: string, more: object = {}) => ({
    iss: upstreamServer.issuer,
    aud: 'vestibule',
    sub: subject,
    iat: nowInSeconds(),
    exp: nowInSeconds() + 300,
    ...more,
  }))
  .extend(
    'readLinkEvents',
    { scope: 'file' },
    ({ events }) =>
      async (userId: string) =>
        (await events({ userId }))
          .filter(({ type }) => type.startsWith('idpuser.'))
          .map(({ type, subjectIds, changedFields }) => ({ type, subjectIds, changedFields })),
  )
  .extend(
    'findStored',
    { scope: 'file' },
    ({ tenant }) =>
      (userId: string) =>
        sql<{ id: string; issuer: string; byManagement: boolean }>(
          `SELECT "id", "issuer", "byManagement" FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = $2`,
          [tenant, userId],
        ),
  )
  .extend('writers', { scope: 'file' }, ({ rest, gql }) => {
    const call = async (
      method: string,
      path: string,
      body?: unknown,
      options?: CallOptions,
    ): Promise<Outcome> => {
      const answer = await rest(method, `/users/${path}`, body, options)
      const { requestId: _, ...outcome } = answer.body
      return { ...outcome, status: answer.status }
    }
    const mutate = async (
      field: string,
      input: object,
      selection: string,
      options?: CallOptions,
    ): Promise<Outcome> => {
      const { body } = await gql(
        `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { result: ${field}(input: $input) {
        ${selection} ... on UserError { code message } ... on ValidationError { fields { field description } }
        ${field === 'unlinkIdpUser' ? '' : '... on ConflictError { fields { field description } }'} } }`,
        { input },
        options,
      )
      const { idpUser, ...result } = body.data?.result ?? {
        code: body.errors?.[0]?.extensions.code,
        message: body.errors?.[0]?.message,
        fields: body.errors?.[0]?.extensions.fields ?? [],
      }
      const status = STATUS[result.code] ?? 200
      return idpUser ? { ...idpUser, status } : { fields: [], ...result, status }
    }
    const writers: Record<(typeof SURFACES)[number], LinkWriter> = {
      REST: {
        add: (userId, idpId, body, options) => call('POST', `${userId}/idps/${idpId}`, body, options),
        link: (userId, idpId, body, options) => call('PUT', `${userId}/idps/${idpId}`, body, options),
        unlink: (userId, idpId, options) => call('DELETE', `${userId}/idps/${idpId}`, undefined, options),
        get: (userId, idpId) => call('GET', `${userId}/idps/${idpId}`),
      },
      GraphQL: {
        add: async (userId, idpId, body, options) => {
          const outcome = await mutate(
            'addIdpUser',
            { userId, idpId, ...body },
            selectLink('AddIdpUserPayload'),
            options,
          )
          return outcome.status === 200 ? { ...outcome, status: 201 } : outcome
        },
        link: (userId, idpId, body, options) =>
          mutate('linkIdpUser', { userId, idpId, ...body }, selectLink('LinkIdpUserPayload'), options),
        unlink: async (userId, idpId, options) => {
          const { unlinkedIdpUserId, user, ...outcome } = await mutate(
            'unlinkIdpUser',
            { userId, idpId },
            '... on UnlinkIdpUserPayload { unlinkedIdpUserId user { id } }',
            options,
          )
          if (!unlinkedIdpUserId) return outcome
          expect(user).toEqual({ id: userId })
          return { ...outcome, message: 'The link was removed.' }
        },
        get: async (userId, idpId) => {
          const { body } = await gql(
            `query ($userId: ID!, $idpId: ID!) { idpUser(userId: $userId, idpId: $idpId) { ${FIELDS} } }`,
            { userId, idpId },
          )
          return body.data.idpUser
            ? { ...body.data.idpUser, status: 200 }
            : { code: 'NOT_FOUND', status: 404 }
        },
      },
    }
    return writers
  })
