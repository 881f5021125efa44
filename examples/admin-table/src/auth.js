import { UserManager } from 'oidc-client-ts'

export const ISSUER = 'http://localhost:3000/demo'

export const users = new UserManager({
  authority: ISSUER,
  client_id: 'your-client-id',
  redirect_uri: 'http://localhost:5173/callback',
  scope: 'openid users:read users:write',
})

/** The user who is signed in; null for nobody. */
export async function loadUser() {
  if (location.href.startsWith(`${users.settings.redirect_uri}?`)) {
    await users.signinCallback()
    history.replaceState(null, '', '/')
  }
  return users.getUser()
}

export const getAuthorization = async () => `Bearer ${(await users.getUser())?.access_token}`
