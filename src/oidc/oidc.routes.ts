import type { H3 } from 'h3'
import { addRegistrationRoutes } from '../registration/registration.routes.ts'
import { addAuthorizeRoutes } from './authorize/authorize.routes.ts'
import { addDeviceRoutes } from './device/device.routes.ts'
import { createDeviceCompletion } from './device/device-completion.http.ts'
import { addDiscoveryRoutes } from './discovery/discovery.routes.ts'
import { addTokenRoutes } from './grants/token.routes.ts'
import { addLogoutRoutes } from './logout/logout.routes.ts'
import { addProviderLogoutRoutes } from './logout/provider-logout.routes.ts'
import { registerDeviceCompletion } from './signin/completion.http.ts'
import { addProviderCallbackRoutes } from './signin/provider-callback.routes.ts'
import { addSignInRoutes } from './signin/sign-in.routes.ts'
import { addUserinfoRoutes } from './userinfo/userinfo.routes.ts'

/** The OpenID provider of every tenant: protocol endpoints and hosted pages. */
export function addOidcRoutes(app: H3): void {
  addDiscoveryRoutes(app)
  addAuthorizeRoutes(app)
  addTokenRoutes(app)
  addRegistrationRoutes(app)
  addDeviceRoutes(app)
  addUserinfoRoutes(app)
  addLogoutRoutes(app)
  registerDeviceCompletion(createDeviceCompletion)
  addSignInRoutes(app)
  addProviderCallbackRoutes(app)
  addProviderLogoutRoutes(app)
}
