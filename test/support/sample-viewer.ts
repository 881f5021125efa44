import { Person } from '../../tools/demo/person.ts'
import { authorizePath, exchange, REDIRECT_URI } from './protocol.ts'
import type { SampleReader } from './sample-reader.ts'

/** A web client of the tenant of the page. */
export const makeWebClient = (
  reader: SampleReader,
  more: object = {},
): Promise<{ id: string; secret: string }> =>
  reader.rest('POST', '/clients', {
    name: 'Relying party',
    type: 'login',
    appType: 'web',
    callbacks: [REDIRECT_URI],
    ...more,
  })

/** Signs a new user in at a client with scope `account`, by the development inbox; returns the access token. */
export async function signInAsViewer(reader: SampleReader): Promise<string> {
  const { origin, tenant } = reader
  const email = 'viewer@example.com'
  // What the page has changed so far is not required of this user.
  await reader.rest('PATCH', '/settings', { secondFactor: 'if-enrolled' })
  await reader.rest('POST', '/users', { email, emailVerified: true })
  const client = await makeWebClient(reader, { scopes: ['account'] })
  const path = authorizePath(tenant, client, { scope: 'openid account' })
  const landed = await new Person(origin, email, () => {}).signIn(new URL(path, origin))
  const { body } = await exchange(reader, tenant, client, landed.searchParams.get('code') ?? '')
  if (!body.access_token) throw new Error(`no token: ${JSON.stringify(body)}`)
  return body.access_token
}
