import { accountOperations } from '../account/account.operations.ts'
import { apiKeyOperations } from '../api-keys/api-keys.operations.ts'
import { bulkJobOperations } from '../bulk/bulk-jobs.operations.ts'
import { clientOperations } from '../clients/clients.operations.ts'
import { trustedDocumentOperations } from '../clients/documents/trusted-documents.operations.ts'
import { consentOperations } from '../consents/consents.operations.ts'
import { credentialOperations } from '../credentials/credentials.operations.ts'
import { dailyCountOperations } from '../events/daily-counts/daily-counts.operations.ts'
import { eventOperations } from '../events/events.operations.ts'
import { idpUserOperations } from '../idps/idp-users.operations.ts'
import { idpOperations } from '../idps/idps.operations.ts'
import { tenantCreationOperations } from '../invitations/create-tenant.operations.ts'
import { invitationOperations } from '../invitations/invitations.operations.ts'
import { keyOperations } from '../keys/key-rotation.operations.ts'
import { lookupOperations } from '../lookup/lookup.operations.ts'
import { explanationOperations } from '../oidc/explain/explain-sign-in.operations.ts'
import { previewOperations } from '../oidc/explain/preview-token.operations.ts'
import { setupLinkOperations } from '../organization-setup/setup-links.operations.ts'
import { organizationDomainOperations } from '../organizations/organization-domains.operations.ts'
import { organizationOperations } from '../organizations/organizations.operations.ts'
import { passcodeOperations } from '../passcodes/passcodes.operations.ts'
import { signInLimitOperations } from '../passcodes/sign-in-limits.operations.ts'
import { apiOperations } from '../permissions/apis.operations.ts'
import { appRoleOperations } from '../permissions/app-roles.operations.ts'
import { checkOperations } from '../permissions/checks.operations.ts'
import { groupOperations } from '../permissions/groups.operations.ts'
import { memberRoleOperations } from '../permissions/member-roles.operations.ts'
import { roleAssignmentOperations } from '../permissions/role-assignments.operations.ts'
import { registrationTokenOperations } from '../registration/registration-tokens.operations.ts'
import type { RestRoute } from '../rest/route.ts'
import { sessionOperations } from '../sessions/sessions.operations.ts'
import { signalStreamOperations } from '../signals/streams.operations.ts'
import { messageOperations } from '../tenants/messages.operations.ts'
import { tenantOperations } from '../tenants/tenants.operations.ts'
import { managementRoleOperations } from '../users/management-roles.operations.ts'
import { roleOperations } from '../users/roles.operations.ts'
import { bulkRoutes } from '../users/transfer/bulk.rest.ts'
import { userOperations } from '../users/users.operations.ts'
import { webhookOperations } from '../webhooks/webhooks.operations.ts'

/** Every route of the management surface. A new resource adds its table here. */
export const restRoutes: readonly RestRoute[] = [
  ...userOperations,
  ...bulkRoutes,
  ...bulkJobOperations,
  ...roleOperations,
  ...managementRoleOperations,
  ...apiOperations,
  ...appRoleOperations,
  ...roleAssignmentOperations,
  ...memberRoleOperations,
  ...groupOperations,
  ...checkOperations,
  ...accountOperations,
  ...sessionOperations,
  ...passcodeOperations,
  ...signInLimitOperations,
  ...credentialOperations,
  ...idpOperations,
  ...idpUserOperations,
  ...consentOperations,
  ...invitationOperations,
  ...organizationOperations,
  ...organizationDomainOperations,
  ...setupLinkOperations,
  ...registrationTokenOperations,
  ...clientOperations,
  ...apiKeyOperations,
  ...webhookOperations,
  ...signalStreamOperations,
  ...tenantCreationOperations,
  ...trustedDocumentOperations,
  ...tenantOperations,
  ...messageOperations,
  ...keyOperations,
  ...eventOperations,
  ...dailyCountOperations,
  ...lookupOperations,
  ...explanationOperations,
  ...previewOperations,
]
