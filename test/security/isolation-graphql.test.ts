import { describe, expect } from 'vitest'
import { tokenFor } from '../support/actors.ts'
import {
  createOtherUser,
  hashTables,
  scopesWithout,
  test,
  toCode,
  toDocument,
  UNKNOWN_IDS,
} from '../support/isolation.ts'
import { findRule, rootFields } from '../support/schema.ts'
import { hasServices } from '../support/services.ts'

describe.runIf(hasServices)('every GraphQL root field', () => {
  const ownAccountFields = rootFields.filter(([, , field]) => findRule(field)?.account)
  /** Fields that also take a value of their own, such as an address to create: their results differ by it. */
  const TAKES_VALUES = /^(create|update|send|authenticate)/

  test.for(rootFields)(
    '%s rejects a missing, foreign or revoked token as UNAUTHENTICATED',
    async (root, { run, own, foreign, revokedTokens }) => {
      const before = await hashTables(own.tenant)
      expect(toCode(await run(null, root))).toBe('UNAUTHENTICATED')
      for (const token of [foreign.token, ...revokedTokens]) expect(await run(token, root)).toBe(401)
      expect(await hashTables(own.tenant)).toEqual(before)
    },
  )

  test.for(rootFields.filter(([, , field]) => field.name !== 'viewer'))(
    '%s rejects a token without its scope as FORBIDDEN',
    async (root, { run, own }) => {
      const before = await hashTables(own.tenant)
      const needed = findRule(root[2])?.scopes ?? (['users:read'] as const)
      const result = await run(await tokenFor(own.tenant, scopesWithout(needed)), root)
      expect(toCode(result)).toBe('FORBIDDEN')
      expect(await hashTables(own.tenant)).toEqual(before)
    },
  )

  test.for(rootFields.filter(([, , field]) => field.args.length > 0))(
    '%s answers an id of another tenant like an unknown id',
    async (root, { run, own, foreign }) => {
      const before = await hashTables(foreign.tenant)
      const results: string[] = []
      for (const ids of [foreign, UNKNOWN_IDS])
        results.push(
          JSON.stringify(await run(own.token, root, ids))
            .replace(/"requestId":"[^"]+"/g, '')
            .replace(/"locations":\[[^\]]*\]/g, ''),
        )
      if (!TAKES_VALUES.test(root[2].name)) expect(results[0]).toBe(results[1])
      const {
        userId,
        sessionId,
        clientId,
        credentialId,
        idpUserId,
        registrationTokenId,
        invitationId,
        apiKeyId,
        trustedDocumentId,
        email,
      } = foreign
      for (const secret of [
        userId,
        sessionId,
        clientId,
        credentialId,
        idpUserId,
        registrationTokenId,
        invitationId,
        apiKeyId,
        trustedDocumentId,
        email,
      ])
        expect(results[0]).not.toContain(secret)
      expect(await hashTables(foreign.tenant)).toEqual(before)
    },
  )

  test.for(
    ownAccountFields.filter(([, kind, field]) => toDocument(kind, field, UNKNOWN_IDS, '').includes('Id')),
  )(
    '%s returns NotFoundError to a user for an id of another user or tenant',
    async (root, { run, own, foreign, accountToken }) => {
      const other = await createOtherUser(own.tenant)
      const before = [await hashTables(foreign.tenant), await hashTables(own.tenant)]
      for (const ids of [foreign, { ...UNKNOWN_IDS, ...other }, UNKNOWN_IDS])
        expect(await run(accountToken, root, ids)).toMatchObject({
          data: { result: { __typename: 'NotFoundError' } },
        })
      expect([await hashTables(foreign.tenant), await hashTables(own.tenant)]).toEqual(before)
    },
  )
})

describe.runIf(hasServices)('Query.node', () => {
  test('finds an id of each type at its own tenant only', async ({ gql, foreign, own }) => {
    const { userId, sessionId, clientId, credentialId, idpId, idpUserId } = foreign
    for (const id of [userId, sessionId, clientId, credentialId, idpId, idpUserId, foreign.tenant]) {
      const query = `{ node(id: "${id}") { id } nodes(ids: ["${id}"]) { id } }`
      expect((await gql(query, {}, foreign)).body.data).toEqual({ node: { id }, nodes: [{ id }] })
      expect((await gql(query, {}, own)).body).toEqual({ data: { node: null, nodes: [null] } })
    }
  })
})
