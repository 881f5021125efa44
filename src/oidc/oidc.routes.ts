import type { H3 } from 'h3'
import { addRegistrationRoutes } from '../registration/registration.routes.ts'
import { addAuthorizeRoutes } from './authorize/authorize.routes.ts'
import { addInitiateLoginRoutes } from './authorize/initiate-login.routes.ts'
import { addPushedRequestRoutes } from './authorize/pushed-requests.routes.ts'
import { addDeviceRoutes } from './device/device.routes.ts'
import { addDiscoveryRoutes } from './discovery.routes.ts'
import { addLogoutRoutes } from './logout/logout.routes.ts'
import { addSignInRoutes } from './signin/signin.routes.ts'
import { addIntrospectionRoutes } from './token/introspection.routes.ts'
import { addTokenRoutes } from './token/token.routes.ts'
import { addUserinfoRoutes } from './userinfo/userinfo.routes.ts'

/** The OpenID Connect provider of every tenant: protocol endpoints and the hosted pages behind them. */
export function addOidcRoutes(app: H3): void {
  addDiscoveryRoutes(app)
  addAuthorizeRoutes(app)
  addPushedRequestRoutes(app)
  addTokenRoutes(app)
  addRegistrationRoutes(app)
  addDeviceRoutes(app)
  addIntrospectionRoutes(app)
  addUserinfoRoutes(app)
  addInitiateLoginRoutes(app)
  addLogoutRoutes(app)
  addSignInRoutes(app)
}
