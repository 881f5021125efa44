import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { createUser } from '../../src/users/users.ts'
import { createCredential } from './authenticator.ts'
import { dbFor } from './database.ts'
import type { Json } from './json.ts'
import { test as base } from './tenant-per-test.ts'

export const ENROLLMENT_GONE = { status: 410, body: { code: 'NOT_FOUND' } }
export type CredentialOptions = Parameters<typeof createCredential>[1]

/** `test` with a tenant and a user for each test, and the steps of an enrollment. */
export const test = base
  .extend('address', ({ tenant }) => `ada@${tenant}.example`)
  .extend(
    'userId',
    async ({ ctx, address }) =>
      (await createUser(ctx, { name: 'Ada', email: address, emailVerified: true })).id,
  )
  /** Issues an enrollment token for the user, or for another one. */
  .extend(
    'newToken',
    ({ ctx, userId }) =>
      async (of = userId) =>
        (await createCredentialEnrollmentToken(ctx, of, { send: false })).token,
  )
  .extend(
    'openPage',
    ({ app, tenant }) =>
      (token: string, at = tenant) =>
        app.fetch(`/${at}/enroll?token=${token}`),
  )
  .extend(
    'post',
    ({ app, tenant }) =>
      async (step: string, body: unknown, headers: object = {}, at = tenant) => {
        const response = await app.fetch(`/${at}/enroll/${step}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
        return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
      },
  )
  .extend(
    'optionsFor',
    ({ post }) =>
      async (token: string) =>
        (await post('options', { token })).body,
  )
  /** Does what the script of the page does: requests the options and posts a new credential. */
  .extend('enroll', ({ post }) => async (token: string, over: CredentialOptions = {}) => {
    const options = await post('options', { token })
    if (options.status !== 200) return options
    return post('credential', { token, response: createCredential(options.body, over).response })
  })
  .extend('credentials', ({ rest, userId }) => async (of = userId): Promise<Json[]> => {
    const { body } = await rest('GET', `/users/${of}/credentials`)
    return body.credentials
  })
  .extend(
    'countCredentials',
    ({ tenant }) =>
      () =>
        dbFor(tenant).credential.count({ where: { tenantId: tenant } }),
  )
