import { createRoot } from 'react-dom/client'
import { loadUser, users } from './auth.js'

const user = await loadUser()
createRoot(document.getElementById('root')).render(
  user ? (
    <p>Signed in as {user.profile.email}</p>
  ) : (
    <button type="button" onClick={() => users.signinRedirect()}>
      Sign in
    </button>
  ),
)
