import { basic } from './protocol.ts'
import { test as base } from './visitor.ts'

export const SCOPE = 'openid email offline_access session'
/** The response to a revocation (RFC 7009, section 2.2). */
export const DONE = { status: 200, body: {} }

/** `test` with the tokens of a user who is signed in for one test, and the revocation endpoint. */
export const test = base
  .extend('tokens', ({ ownVisitor }) => ownVisitor.newTokens({ scope: SCOPE }))
  .extend(
    'revoke',
    { scope: 'file' },
    ({ app, tenant, client }) =>
      async (form: Record<string, string>, by: { id: string; secret: string } | null = client) => {
        const response = await app.fetch(`/${tenant}/oidc/revoke`, {
          method: 'POST',
          headers: by ? { authorization: basic(by) } : {},
          body: new URLSearchParams(form),
        })
        return { status: response.status, body: await response.json(), headers: response.headers }
      },
  )
