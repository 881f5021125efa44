import { decodeJwt, type JWTPayload } from 'jose'
import { answerIn } from './protocol.ts'
import { test as base } from './signed-in.ts'

export const idTokenOf = (tokens: Record<string, string>): JWTPayload => decodeJwt(tokens.id_token ?? '')

/** `test` with a user who has claims, and authorization requests with the parameter `claims`. */
export const test = base
  .extend('user', { scope: 'file' }, ({ newPerson }) =>
    newPerson({ name: 'Ada Lovelace', birthdate: '1815-12-10', address: { locality: 'London' } }),
  )
  .extend('eve', { scope: 'file' }, ({ newPerson }) => newPerson())
  .extend(
    'requestPath',
    { scope: 'file' },
    ({ oidc }) =>
      (claims: unknown, more: Record<string, string> = {}) =>
        oidc.authorizePath({
          scope: 'openid',
          prompt: 'none',
          claims: typeof claims === 'string' ? claims : JSON.stringify(claims),
          ...more,
        }),
  )
  .extend(
    'ask',
    { scope: 'file' },
    ({ signedIn, requestPath }) =>
      async (claims: unknown, more: Record<string, string> = {}) =>
        answerIn((await signedIn.fetch(requestPath(claims, more))).headers.get('location')),
  )
  .extend(
    'tokensFor',
    { scope: 'file' },
    ({ oidc, ask }) =>
      async (claims: unknown, more: Record<string, string> = {}) =>
        (await oidc.exchange((await ask(claims, more)).code ?? '')).body,
  )
  .extend(
    'userinfo',
    { scope: 'file' },
    ({ oidc }) =>
      async (tokens: Record<string, string>) =>
        (await (await oidc.userinfo(tokens.access_token ?? '')).json()) as object,
  )
