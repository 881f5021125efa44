import { answerIn, REDIRECT_URI } from './protocol.ts'
import { test as base } from './signed-in.ts'

/** With authorize requests of a user who is signed in. */
export const test = base
  .extend('issuer', { scope: 'file' }, ({ tenant }) => `http://localhost:3000/${tenant}`)
  .extend(
    'visit',
    { scope: 'file' },
    ({ client, oidc, signedIn }) =>
      async (more: Record<string, string | null>, by = signedIn, of = client) => {
        const response = await by.fetch(oidc.authorizePath(more, of))
        const location = response.headers.get('location')
        return { response, location, answer: location?.startsWith(REDIRECT_URI) ? answerIn(location) : null }
      },
  )
  .extend(
    'isHosted',
    { scope: 'file' },
    ({ tenant }) =>
      (location: string | null) =>
        new RegExp(`^/${tenant}/signin/[\\w-]{43,}$`).test(location ?? ''),
  )
  .extend(
    'form',
    { scope: 'file' },
    ({ app, oidc }) =>
      (more: Record<string, string | null> = {}) =>
        Object.fromEntries(new URL(oidc.authorizePath(more), app.origin).searchParams),
  )
  .extend(
    'path',
    { scope: 'file' },
    ({ tenant }) =>
      () =>
        `/${tenant}/oidc/authorize`,
  )
