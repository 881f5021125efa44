import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { ROLES } from '../../src/core/scopes.ts'
import { revokeCredential } from '../../src/credentials/credentials.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser } from '../../src/users/users.ts'
import { CREATE_ENROLLMENT_TOKEN, test } from '../support/credentials.ts'
import { dbFor } from '../support/database.ts'
import { countStatements } from '../support/statements.ts'

const REVOKE_CREDENTIAL = `mutation ($id: ID!) { revokeCredential(input: { credentialId: $id }) {
  ... on RevokeCredentialPayload { revokedCredentialId } ... on UserError { code } } }`

describe('DELETE /credentials/{credentialId} and revokeCredential', () => {
  test('delete the credential, record it and keep hasCredential while the user has another', async ({
    rest,
    gql,
    events,
    userId,
    plant,
    hasCredential,
  }) => {
    const [a, b] = [await plant(), await plant()]
    expect(await hasCredential()).toBe(true)
    const gone = await rest('DELETE', `/credentials/${a}`)
    expect(gone).toMatchObject({ status: 200, body: { message: 'The credential is revoked.', fields: [] } })
    expect((await rest('DELETE', `/credentials/${a}`)).status).toBe(404)
    expect(await hasCredential()).toBe(true)
    expect((await gql(REVOKE_CREDENTIAL, { id: b })).body.data.revokeCredential).toEqual({
      revokedCredentialId: b,
    })
    expect((await gql(REVOKE_CREDENTIAL, { id: b })).body.data.revokeCredential).toEqual({
      code: 'NOT_FOUND',
    })
    expect(await hasCredential()).toBe(false)
    expect((await rest('GET', `/users/${userId}/credentials`)).body.totalSize).toBe(0)
    expect(await events({ type: 'credential.revoked' })).toMatchObject([
      { userId, subjectIds: [a], actorClientId: expect.any(String) },
      { userId, subjectIds: [b] },
    ])
  })

  test('reset hasCredential when all credentials are revoked concurrently', async ({
    rest,
    plant,
    hasCredential,
  }) => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => plant()))
    const answers = await Promise.all(ids.map((id) => rest('DELETE', `/credentials/${id}`)))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect(await hasCredential()).toBe(false)
  })

  test('succeed once of eight concurrent calls', async ({ rest, events, plant }) => {
    const id = await plant()
    const answers = await Promise.all(Array.from({ length: 8 }, () => rest('DELETE', `/credentials/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)])
    expect(await events({ type: 'credential.revoked' })).toHaveLength(1)
  })

  test('need six round trips', async ({ ctx, plant }) => {
    const id = await plant()
    expect(await countStatements(() => revokeCredential(ctx, id))).toBe(6)
  })
})

describe('a caller with fewer scopes than the user', () => {
  test('neither creates an enrollment token for the user nor revokes a credential', async ({
    tenant,
    ctx,
    rest,
    gql,
    userId,
    plant,
  }) => {
    await setUserRoles(createPlatformCtx(tenant), userId, { roles: ['admin'] })
    const id = await plant()
    const answers = [
      await rest(
        'POST',
        `/users/${userId}/credentials/enrollment-tokens`,
        { send: false },
        { scopes: ROLES.support },
      ),
      await rest('DELETE', `/credentials/${id}`, undefined, { scopes: ROLES.support }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    for (const [query, variables] of [
      [CREATE_ENROLLMENT_TOKEN, { input: { userId, send: false } }],
      [REVOKE_CREDENTIAL, { id }],
    ] as const)
      expect((await gql(query, variables, { scopes: ROLES.support })).body.errors?.[0]?.extensions.code).toBe(
        'FORBIDDEN',
      )
    expect(await dbFor(tenant).enrollmentToken.count({ where: { tenantId: tenant } })).toBe(0)
    expect((await rest('GET', `/credentials/${id}`, undefined, { scopes: ROLES.support })).status).toBe(200)

    const colleague = (await createUser(ctx, {})).id
    await setUserRoles(createPlatformCtx(tenant), colleague, { roles: ['support'] })
    const theirs = await plant(colleague)
    const own = await rest(
      'POST',
      `/users/${colleague}/credentials/enrollment-tokens`,
      {
        send: false,
      },
      { scopes: ROLES.support },
    )
    expect(own.status).toBe(201)
    expect(
      (await rest('DELETE', `/credentials/${theirs}`, undefined, { scopes: ROLES.support })).status,
    ).toBe(200)
  })
})
