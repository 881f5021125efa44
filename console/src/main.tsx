import './styles/console.css'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RelayEnvironmentProvider } from 'react-relay/hooks'
import { environment } from './api/environment.ts'
import { completeSignIn, leadToIssuer, startSignIn } from './auth/sign-in.ts'
import { TRY_URL } from './config.ts'
import { router } from './router.tsx'
import { Failure, NoRole } from './shell/failure.tsx'
import { applyTheme } from './shell/theme.ts'

applyTheme()
const root = createRoot(document.getElementById('root') as HTMLElement)

async function showConsole(): Promise<void> {
  const scopes = await completeSignIn()
  const isManager = scopes.includes('organization')
  const hasRole = scopes.some((scope) => scope.includes(':')) || isManager
  // Who has no role may be an administrator of the organization of the address.
  const [, organizationId] = /\/organizations\/(organization_\w+)/.exec(location.pathname) ?? []
  if (!hasRole && organizationId) await startSignIn(undefined, organizationId)
  root.render(
    <StrictMode>
      <RelayEnvironmentProvider environment={environment}>
        {hasRole ? <RouterProvider router={router} /> : <NoRole />}
      </RelayEnvironmentProvider>
    </StrictMode>,
  )
}

try {
  await leadToIssuer()
  if (location.href.startsWith(`${TRY_URL}?`))
    root.render((await import('./screens/applications/try-callback.tsx')).handOver())
  else await showConsole()
} catch (error) {
  root.render(<Failure error={error} />)
}
