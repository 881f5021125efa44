import type { H3 } from 'h3'
import { addRegistrationRoutes } from '../registration/registration.routes.ts'
import { addAuthorizeRoutes } from './authorize.routes.ts'
import { addDeviceRoutes } from './device.routes.ts'
import { addDiscoveryRoutes } from './discovery.routes.ts'
import { addInitiateLoginRoutes } from './initiate-login.routes.ts'
import { addIntrospectionRoutes } from './introspection.routes.ts'
import { addLogoutRoutes } from './logout.routes.ts'
import { addPushedRequestRoutes } from './pushed-requests.routes.ts'
import { addSignInRoutes } from './signin.routes.ts'
import { addTokenRoutes } from './token.routes.ts'
import { addUserinfoRoutes } from './userinfo.routes.ts'

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
