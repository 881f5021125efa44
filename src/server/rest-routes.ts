import { clientOperations } from '../clients/clients.operations.ts'
import { consentRoutes } from '../consents/consents.rest.ts'
import { credentialRoutes } from '../credentials/credentials.rest.ts'
import { eventRoutes } from '../events/list.rest.ts'
import { idpUserTokensRoutes } from '../idps/idp-user-tokens.rest.ts'
import { idpUserRoutes } from '../idps/idp-users.rest.ts'
import { idpRoutes } from '../idps/idps.rest.ts'
import { invitationOperations } from '../invitations/invitations.operations.ts'
import { keyOperations } from '../keys/key-rotation.operations.ts'
import { passcodeRoutes } from '../passcodes/passcodes.rest.ts'
import { signInLimitRoutes } from '../passcodes/sign-in-limits.rest.ts'
import { registrationTokenOperations } from '../registration/registration-tokens.operations.ts'
import type { RestRoute } from '../rest/route.ts'
import { sessionRoutes } from '../sessions/sessions.rest.ts'
import { tenantOperations } from '../tenants/tenants.operations.ts'
import { bulkRoutes } from '../users/bulk.rest.ts'
import { roleRoutes } from '../users/roles.rest.ts'
import { userRoutes } from '../users/users.rest.ts'

/** Every route of the management surface. A new resource adds its table here. */
export const restRoutes: readonly RestRoute[] = [
  ...userRoutes,
  ...bulkRoutes,
  ...roleRoutes,
  ...sessionRoutes,
  ...passcodeRoutes,
  ...signInLimitRoutes,
  ...credentialRoutes,
  ...idpRoutes,
  ...idpUserRoutes,
  ...idpUserTokensRoutes,
  ...consentRoutes,
  ...invitationOperations,
  ...registrationTokenOperations,
  ...clientOperations,
  ...tenantOperations,
  ...keyOperations,
  ...eventRoutes,
]
