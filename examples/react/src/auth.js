import { UserManager } from 'oidc-client-ts'

// #region connect
export const users = new UserManager({
  authority: 'http://localhost:3000/demo',
  client_id: 'your-client-id',
  redirect_uri: 'http://localhost:5173/callback',
  scope: 'openid email profile',
  loadUserInfo: true,
})
// #endregion

/** The user who is signed in; null for nobody. */
export async function loadUser() {
  if (location.href.startsWith(`${users.settings.redirect_uri}?`)) {
    await users.signinCallback()
    history.replaceState(null, '', '/')
  }
  return users.getUser()
}
